"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .branches import (
    Branch as Branch,
    ContactAcceleration as ContactAcceleration,
    ForceSet as ForceSet,
    Slack as Slack,
)
from .candidates import of_either_limit as of_either_limit
from .certificate import Certificate as Certificate, verify_certificate as verify_certificate
from .classification import CellVerdict as CellVerdict, Classification as Classification, classify as classify
from .complementarity import contact_forces as contact_forces, to_lcp as to_lcp
from .compliance.law import KelvinVoigt as KelvinVoigt, KelvinVoigtLimit as KelvinVoigtLimit
from .compliance.resolution import Outcome as Outcome, Resolution as Resolution, resolve as resolve
from .cover.certificate import CoverCertificate as CoverCertificate, verify_cover as verify_cover
from .impacts.impact import (
    AbstractImpactLaw as AbstractImpactLaw,
    Impact as Impact,
    ImpactProblem as ImpactProblem,
    Impulses as Impulses,
    Phase as Phase,
    resolve_impact as resolve_impact,
)
from .impacts.laws import (
    EnergeticImpact as EnergeticImpact,
    NewtonImpact as NewtonImpact,
    PoissonImpact as PoissonImpact,
)
from .impacts.reverse_chatter import ReverseChatter as ReverseChatter, reverse_chatter as reverse_chatter
from .mode_certificate import ModeCertificate as ModeCertificate, ModeRefutation as ModeRefutation
from .modes import ContactMode as ContactMode, Mode as Mode, Violation as Violation
from .problem import ContactProblem as ContactProblem, contact_problem as contact_problem
from .pruning.certificate import TreeCertificate as TreeCertificate
from .selection import select as select, select_problem as select_problem
from .sliding import (
    SlidingTerms as SlidingTerms,
    TangentialReport as TangentialReport,
    can_slip as can_slip,
    sliding_terms as sliding_terms,
)
from .verdict import Selection as Selection, Verdict as Verdict
