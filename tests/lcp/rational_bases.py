"""Which complementary bases solve a problem, in rational arithmetic."""

from fractions import Fraction as F


def solving_bases(M, q):
    """Nonsingular complementary bases whose basic point is nonnegative, in rational arithmetic."""
    n, bases = len(q), set()
    for b in range(2**n):
        inside = [i for i in range(n) if b >> i & 1]
        # columns -M_j for z_j basic, e_i for w_i basic: C x = q
        C = [[F(int(i == j)) if j not in inside else -F(float(M[i, j])) for j in range(n)] for i in range(n)]
        x = solved(C, [F(float(v)) for v in q])
        if x is not None and min(x) >= 0:
            bases.add(b)
    return bases


def solved(C, right):
    rows = [[*row, value] for row, value in zip(C, right, strict=True)]
    n = len(rows)
    for k in range(n):
        p = next((i for i in range(k, n) if rows[i][k]), None)
        if p is None:
            return None
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]
