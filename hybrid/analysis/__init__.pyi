"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .certified import (
    CertifiedFriction as CertifiedFriction,
    CertifiedMap as CertifiedMap,
    certified_friction as certified_friction,
    certified_map as certified_map,
    sliced as sliced,
)
from .comparison.agreement import ComparisonMap as ComparisonMap, compare_map as compare_map
from .comparison.restitution import RestitutionMap as RestitutionMap, restitution_map as restitution_map
from .comparison.table import Comparison as Comparison, ComparisonRow as ComparisonRow, compare as compare
from .configuration.realisation import (
    RealisationRow as RealisationRow,
    RealisationStudy as RealisationStudy,
    realisation_study as realisation_study,
)
from .configuration.search import (
    ConfigurationCurves as ConfigurationCurves,
    configuration_curves as configuration_curves,
    singular_configurations as singular_configurations,
)
from .criticality.friction import CriticalFriction as CriticalFriction, critical_friction as critical_friction
from .criticality.singularities import (
    ForceAtPoint as ForceAtPoint,
    GenotBrogliatoPoint as GenotBrogliatoPoint,
    genot_brogliato_points as genot_brogliato_points,
)
from .ensemble_chunks import EnsembleEvents as EnsembleEvents
from .ensemble_result import (
    Ensemble as Ensemble,
    ensemble_columns as ensemble_columns,
    event_columns as event_columns,
    save_ensemble as save_ensemble,
    statistics as statistics,
)
from .ensemble_store import load_ensemble as load_ensemble
from .ensembles import ensemble as ensemble
from .maps.axes import Axis as Axis
from .maps.boundaries import Boundary as Boundary
from .maps.region_map import RegionMap as RegionMap
from .maps.regions import region_map as region_map
from .maps.store import load_map as load_map, save_map as save_map
from .sensitivities.continuation import (
    Continuation as Continuation,
    StabilityChange as StabilityChange,
    continue_periodic as continue_periodic,
)
from .sensitivities.event_derivatives import saltation_matrix as saltation_matrix
from .sensitivities.gradient import (
    EventSensitivity as EventSensitivity,
    Sensitivity as Sensitivity,
    sensitivity as sensitivity,
)
from .sensitivities.passes import Functional as Functional
from .sensitivities.periodic import PeriodicMotion as PeriodicMotion, periodic_motion as periodic_motion
from .sensitivities.refusal import Refusal as Refusal
