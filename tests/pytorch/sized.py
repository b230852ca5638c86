"""Modules of a size at which memory is that of tensors, not of parameters."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from making import MODULES, add, lin, made, sq, x

c = torch.view_as_complex


def wide(name, f):
    add(name, lambda s, a: sq(f(s.l(a))), lambda: x(64, 64), l=lambda: lin(64, 256))


def halves(y):
    return c(y.view(64, 128, 2))


def stacked(y):
    return y.view(64, 16, 16) + 3 * torch.eye(16)


for name, f in dict(
    wide_rfft=lambda y: torch.view_as_real(torch.fft.rfft(y)), wide_rfft_padded=lambda y: torch.view_as_real(torch.fft.rfft(y, n=511)),
    wide_rfft_rows=lambda y: torch.view_as_real(torch.fft.rfft(y, dim=0)), wide_irfft=lambda y: torch.fft.irfft(halves(y), n=254),
    wide_rfft_convolution=lambda y: torch.fft.irfft(torch.fft.rfft(y, n=511) * torch.fft.rfft(y.flip(0), n=511), n=511)[:, :256],
    wide_float_power=lambda y: torch.float_power(y.abs() + 1, 1.5).float(), wide_cummin=lambda y: y.cummin(1).values,
    wide_cummax=lambda y: y.cummax(0)[0] * y, wide_complex_sign=lambda y: (halves(y).sgn() * halves(y.cos())).real,
    wide_norm_inf=lambda y: torch.linalg.vector_norm(y, float("inf"), dim=0), wide_norm_least=lambda y: torch.linalg.vector_norm(y, -float("inf"), dim=1),
    wide_norm_1=lambda y: torch.linalg.vector_norm(y, 1, dim=1), wide_norm_3=lambda y: torch.linalg.vector_norm(y, 3, dim=1),
    wide_einsum_three=lambda y: torch.einsum("bi,ci,di->bcd", y, y[:32], y[:16]), wide_einsum_quadratic=lambda y: torch.einsum("bi,ij,bj->b", y, y.sin()[:, :].repeat(4, 1), y.cos()),
    wide_einsum_alone=lambda y: torch.einsum("bij,bkl->bik", y.view(64, 16, 16), y.view(64, 16, 16).sin()), wide_einsum_rows=lambda y: torch.einsum("bi,cj->bc", y.sin(), y[:32].cos()), wide_einsum_weighted=lambda y: torch.einsum("bij,bj->bj", y.view(64, 16, 16).sin(), y[:, :16].cos()),
    wide_einsum_alone_three=lambda y: torch.einsum("bi,bj,bk->bk", y.sin(), y[:, :16].cos(), y.tanh()), wide_einsum_columns=lambda y: torch.einsum("bij->ji", y.view(64, 16, 16).sin()), wide_einsum_scalar=lambda y: torch.einsum("ij,kl->l", y.sin(), y.cos()) * y,
    wide_mixture=lambda y: (y[:, :4].softmax(-1)[..., None] * torch.stack([y.sin(), y.cos(), y.tanh(), y.exp()], 1)).sum(1), wide_sum=lambda y: y.sin().sum(1), wide_sum_through=lambda y: (y.sin().view(64, 16, 16) + y.view(64, 16, 16)).sum(1).cos(), wide_sum_twice=lambda y: (lambda z: z.sum(0).cos() * z.sum(1)[:, None])(y.sin()),
    wide_sum_linear=lambda y: F.linear(y.view(64, 16, 16), y[:16, :16].sin()).sum(1).sin(),
    wide_matmul_matrix_of_list=lambda y: y[:, :64].sin().view(64, 64)[:16] @ y.view(-1, 64, 64).cos(),
    wide_matmul_repeated=lambda y: y.view(8, 1, 8, 256).sin() @ y[:32].view(4, 256, 8).cos(), wide_matmul_both=lambda y: y.view(4, 1, 16, 256).sin() @ y.view(1, 8, 256, 8).cos(),
    wide_einsum_heads=lambda y: torch.einsum("bhqk,bkhd->bqhd", torch.einsum("bqhd,bkhd->bhqk", y.view(4, 16, 4, 64), y.view(4, 16, 4, 64).sin()).softmax(-1), y.view(4, 16, 4, 64).cos()),
    wide_einsum_turned=lambda y: torch.einsum("abc,dba->cd", y.view(64, 16, 16).sin(), y.view(16, 16, 64).cos()), wide_einsum_gated=lambda y: torch.einsum("bsd,edf->besf", y.view(4, 16, 256).sin(), y[:, :32].reshape(4, 256, 2).cos()).tanh(),
    wide_einsum_out=lambda y: torch.einsum("bshd,hde->bse", y.view(4, 16, 4, 64).sin(), y.view(4, 64, 64).cos()),
    wide_einsum_four=lambda y: torch.einsum("bi,bi,bi,bi->b", y, y.sin(), y.cos(), y.tanh()),
    wide_einsum_dots=lambda y: torch.einsum("...ij,jk,il->...kl", y.view(4, 16, 256), y[:, :8].repeat(4, 1), y[:16, :4]),
    wide_inverse=lambda y: torch.linalg.inv(stacked(y)), wide_det=lambda y: torch.linalg.det(stacked(y) / 3), wide_slogdet=lambda y: torch.slogdet(stacked(y))[1], wide_solve=lambda y: torch.linalg.solve(stacked(y), y.view(64, 16, 16).sin()),
    wide_cholesky=lambda y: torch.linalg.cholesky(stacked(y) @ stacked(y).mT), wide_qr=lambda y: torch.linalg.qr(stacked(y))[1], wide_eigvalsh=lambda y: torch.linalg.eigvalsh(stacked(y) @ stacked(y).mT), wide_svdvals=lambda y: torch.linalg.svdvals(stacked(y)), wide_matrix_exp=lambda y: torch.linalg.matrix_exp(y.view(64, 16, 16) / 4),
    wide_rfft2_padded=lambda y: torch.view_as_real(torch.fft.rfft2(y.view(64, 16, 16), s=(20, 20))), wide_irfft2=lambda y: torch.fft.irfft2(halves(y).view(64, 16, 8), s=(16, 14)), wide_diagonal=lambda y: y.view(64, 16, 16).sin().diagonal(dim1=1, dim2=2).sin(),
    wide_quantile=lambda y: y.quantile(0.3, dim=1), wide_msort=lambda y: y.msort() * torch.arange(256), wide_ndtr=torch.special.ndtr, wide_renorm=lambda y: y.renorm(2, 0, 1.0),
    wide_lerp_row=lambda y: torch.lerp(y, y.sin(), y[0].cos()), wide_where_row=lambda y: torch.where(y > 0, y.sin(), y[0].cos()),
    wide_index_rows=lambda y: y.sin().view(64, 16, 16)[torch.arange(64), torch.arange(64) % 16].cos(),
    wide_index_rows_several=lambda y: y.sin()[torch.arange(64)[:, None], torch.arange(192).view(64, 3) % 256].cos(),
    wide_log_sigmoid=F.logsigmoid, wide_elu_in_place=lambda y: F.elu_(y * 1, 0.4), wide_leaky_in_place=lambda y: F.leaky_relu_(y * 1, 0.1),
    wide_conjugate=lambda y: torch.view_as_real(halves(y).conj() * halves(y)), wide_variance=lambda y: torch.var_mean(y, (0,), correction=0)[0] * y,).items():
    wide(name, f)
made("wide_separable", lambda: nn.Sequential(nn.Conv2d(16, 32, 3, groups=16), nn.ReLU(), nn.Conv2d(32, 16, 1)), 4, 16, 16, 16)
add("wide_experts", lambda s, t: sq(torch.einsum("besd,bse->bsd", torch.einsum("besf,efd->besd", torch.einsum("bsd,edf->besf", s.l(t), s.up).sin(), s.down), s.gate(t).softmax(-1))),
    lambda: x(4, 32, 64), l=lambda: lin(64, 64), gate=lambda: lin(64, 4), up=lambda: nn.Parameter(torch.randn(4, 64, 48) / 8), down=lambda: nn.Parameter(torch.randn(4, 48, 64) / 8))
add("wide_batch_norm_bfloat16", lambda s, a: sq(s.m(a.bfloat16()).float()), lambda: x(16, 32, 64), m=lambda: nn.BatchNorm1d(32).bfloat16())

# Diagonals within an equation.
add("einsum_diagonal_product", lambda s, a: sq(torch.einsum("bii,ij->bj", s.l(a).view(4, 4, 4), s.w)), x, l=lin, w=lambda: nn.Parameter(torch.randn(4, 7)))
add("einsum_diagonal_batch", lambda s, a: sq(torch.einsum("iij,jk->ik", s.l(a).view(4, 4, 4), s.w)), x, l=lin, w=lambda: nn.Parameter(torch.randn(4, 7)))
add("einsum_trace", lambda s, a: sq(torch.einsum("bii->b", s.l(a).view(4, 4, 4))), x, l=lin)
add("einsum_diagonal_scaled", lambda s, a: sq(torch.einsum("bii,bi->b", s.l(a).view(4, 4, 4), a[:, :4])), x, l=lin)


# Buffers: of which nothing is left to be trained, and that a step changes.
def teacher(s, a):
    h = s.l(a)
    return ((h @ s.t).log_softmax(-1) * (a @ s.t).softmax(-1)).sum(-1).mean()


def queue(s, a):
    h = F.relu(s.l(a))
    loss = (h @ s.q.clone().t()).logsumexp(-1).mean()
    s.q.copy_(torch.cat([h.detach(), s.q[: 512 - 64]]))
    return loss


add("teacher_in_a_buffer", teacher, lambda: x(64, 64), l=lambda: lin(64, 64), t=lambda: torch.randn(64, 1024))
add("queue_in_a_buffer", queue, lambda: x(64, 64), l=lambda: lin(64, 64), q=lambda: torch.randn(512, 64))


# Normalization before each layer, beside what goes around it: of float32 and of bfloat16, with a weight that is trained, that is
# not, and with none; and behind it.
class Normalized(nn.Module):
    def __init__(self, weight, behind=False):
        super().__init__()
        self.l = nn.ModuleList(lin(128, 128) for _ in range(4))
        self.n = nn.ModuleList(nn.RMSNorm(128, elementwise_affine=weight != "none") for _ in range(4))
        self.n.requires_grad_(weight == "trained")
        self.behind = behind

    def forward(self, x):
        for l, n in zip(self.l, self.n):
            x = n(x + l(x)) if self.behind else x + l(n(x))
        return sq(x)


for weight in ("trained", "frozen", "none"):
    for name, dtype in (("", torch.float32), ("_bf16", torch.bfloat16)):
        for place, behind in (("before", False), ("behind", True)):
            MODULES[f"wide_rms_norm_{place}_{weight}{name}"] = lambda w=weight, t=dtype, b=behind: (
                Normalized(w, b).to(t), (x(8, 64, 128).to(t),))
