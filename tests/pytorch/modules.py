"""Small modules: an operator, attributes that change what it means, training or evaluation, and types."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan

from making import MODULES, Of, add, ids, lin, made, sq, through, x

for name, f in dict(
    meshgrid_ij=lambda y: sum(torch.meshgrid(y[0], y[1], indexing="ij")),
    meshgrid_xy=lambda y: sum(torch.meshgrid(y[0], y[1, :5], indexing="xy")),
    repeat_interleave_all=lambda y: y.repeat_interleave(3),
    solve_triangular=lambda y: torch.linalg.solve_triangular(y[:, :4].tril() + 3 * torch.eye(4), y, upper=False),
    solve_triangular_upper=lambda y: torch.linalg.solve_triangular(y[:, :4].triu(), y, upper=True, unitriangular=True),
).items():
    through(name, f)

# ---- functions of matrices, of diagonals and of planes -----------------------------------------------------------------------
def matrices(y):
    return y.view(4, 4, 4) + 3 * torch.eye(4)


def positive_definite(y):
    return matrices(y) @ matrices(y).mT + torch.eye(4)


for name, f in dict(
    det=lambda y: torch.det(matrices(y)), slogdet=lambda y: torch.slogdet(matrices(y))[1], logdet=lambda y: torch.logdet(positive_definite(y)), inv=lambda y: torch.linalg.inv(matrices(y)),
    inverse=lambda y: torch.inverse(matrices(y)), pinv=lambda y: torch.linalg.pinv(matrices(y)), solve=lambda y: torch.linalg.solve(matrices(y), y.view(4, 4, 4).sin()), solve_vector=lambda y: torch.linalg.solve(matrices(y), y[:, :4]),
    cholesky=lambda y: torch.linalg.cholesky(positive_definite(y)), cholesky_upper=lambda y: torch.linalg.cholesky(positive_definite(y), upper=True), cholesky_solve=lambda y: torch.cholesky_solve(y.view(4, 4, 4), torch.linalg.cholesky(positive_definite(y))),
    cholesky_inverse=lambda y: torch.cholesky_inverse(torch.linalg.cholesky(positive_definite(y))), qr=lambda y: torch.linalg.qr(matrices(y))[1], eigh=lambda y: torch.linalg.eigh(positive_definite(y))[0], eigvalsh=lambda y: torch.linalg.eigvalsh(positive_definite(y)),
    svd=lambda y: torch.linalg.svd(matrices(y))[1], svdvals=lambda y: torch.linalg.svdvals(matrices(y)), matrix_exp=lambda y: torch.matrix_exp(y.view(4, 4, 4)), cross_rows=lambda y: torch.linalg.cross(y[:, :3], y.sin()[:, 3:6]) * torch.arange(3),
    matrix_norm=lambda y: torch.linalg.matrix_norm(matrices(y)) * torch.arange(4),
    diagonal_batch=lambda y: y.view(4, 4, 4).diagonal(1, 1, 2) * torch.arange(3), diagonal_of_rows=lambda y: (y @ y.sin().t()).diagonal() * y.t(), diag_embed_rows=lambda y: torch.diag_embed(y[:, :5]) @ torch.arange(5).float(), diag_embed_off=lambda y: torch.diag_embed(y[:, :5], -1, 0, 2) * torch.arange(6),
    diag_vector=lambda y: torch.diag(y[0]) * y[1], diag_matrix=lambda y: torch.diag(y.t() @ y, 2) * torch.arange(14), diagonal_written=lambda y: y.view(4, 4, 4).diagonal_scatter(y[:, :3].cos(), 1, 1, 2) * torch.arange(4),
    triangle_rows=lambda y: (lambda i: y.view(4, 4, 4)[:, i[0], i[1]])(torch.tril_indices(4, 4, -1)), triangle_columns=lambda y: y.view(4, 4, 4)[(slice(None), *torch.triu_indices(4, 4))] * torch.arange(10), window=lambda y: y * torch.hann_window(16) + torch.hamming_window(16, periodic=False),
    irfft2_sizes=lambda y: torch.fft.irfft2(torch.view_as_complex(y.view(4, 4, 2, 2)), s=(4, 3)), irfftn_sizes=lambda y: torch.fft.irfftn(torch.view_as_complex(y.view(4, 4, 2, 2)), s=(3, 2), dim=(1, 2)), rfft2_sizes=lambda y: torch.fft.rfft2(y.view(4, 4, 4), s=(6, 3)).abs().pow(2),
    quantile=lambda y: y.quantile(0.3, dim=1), quantile_higher=lambda y: y.quantile(0.6, dim=0, interpolation="higher", keepdim=True) * y, aminmax=lambda y: (lambda m: m[0] * 2 + m[1])(torch.aminmax(y, dim=1)), msort=lambda y: y.msort() * torch.arange(4)[:, None],
    renorm_columns=lambda y: torch.renorm(y, 2, 1, 0.5), searchsorted=lambda y: y * torch.searchsorted(torch.linspace(-1, 1, 5), y.detach(), right=True), isin=lambda y: y * torch.isin((y.detach() * 3).long(), torch.arange(2)), ndtr=torch.special.ndtr, polygamma=lambda y: torch.polygamma(1, y.abs() + 1),
    tile_leading=lambda y: y.tile(2, 1, 3) * torch.arange(48),
).items():
    through(name, f)

# ---- elementwise -----------------------------------------------------------------------------------------------------
for name, f in dict(
    i0=torch.special.i0, i0e=torch.special.i0e, i1=torch.special.i1, i1e=torch.special.i1e, erfcx=torch.special.erfcx,
    log_ndtr=torch.special.log_ndtr, entr=lambda y: torch.special.entr(y.abs() + 0.1), erf=torch.special.erf,
    ndtri=lambda y: torch.special.ndtri(y.sigmoid()), gammaln=lambda y: torch.special.gammaln(y.abs() + 1),
    exp2=torch.special.exp2, logit=lambda y: torch.special.logit(y.sigmoid(), eps=0.1),
    digamma=lambda y: torch.special.digamma(y.abs() + 1),
).items():
    through("special_" + name, f)

for name, f in dict(
    relu=F.relu, relu6=F.relu6, gelu=F.gelu, gelu_tanh=lambda y: F.gelu(y, approximate="tanh"), silu=F.silu,
    sigmoid=torch.sigmoid, tanh=torch.tanh, softplus=F.softplus, softplus_beta=lambda y: F.softplus(y, beta=2.0, threshold=1.0),
    elu=F.elu, elu_alpha=lambda y: F.elu(y, alpha=0.5), celu=lambda y: F.celu(y, alpha=0.7), selu=F.selu,
    leaky_relu=lambda y: F.leaky_relu(y, 0.2), hardtanh=lambda y: F.hardtanh(y, -0.3, 0.4), hardswish=F.hardswish,
    hardsigmoid=F.hardsigmoid, mish=F.mish, softsign=F.softsign, logsigmoid=F.logsigmoid, tanhshrink=F.tanhshrink,
    softshrink=lambda y: F.softshrink(y, 0.2), hardshrink=lambda y: F.hardshrink(y, 0.2),
    threshold=lambda y: F.threshold(y, 0.1, 0.7), glu=lambda y: F.glu(y, dim=-1), glu_dim0=lambda y: F.glu(y, dim=0),
    exp=lambda y: y.exp(), log=lambda y: (y.abs() + 1).log(), log1p=lambda y: y.abs().log1p(), log2=lambda y: (y.abs() + 1).log2(),
    expm1=lambda y: y.expm1(), sqrt=lambda y: (y.abs() + 1).sqrt(), rsqrt=lambda y: (y.abs() + 1).rsqrt(),
    reciprocal=lambda y: (y.abs() + 1).reciprocal(), sin=lambda y: y.sin(), cos=lambda y: y.cos(), erf=lambda y: y.erf(),
    neg=lambda y: -y + 1, square=lambda y: y.square(), absolute=lambda y: y.abs(), sign_times=lambda y: y.sign() * y,
    pow_cube=lambda y: y.pow(3), pow_half=lambda y: (y.abs() + 1).pow(0.5), pow_base=lambda y: torch.pow(2.0, y),
    pow_tensor=lambda y: (y.abs() + 1).pow(y), clamp_both=lambda y: y.clamp(-0.3, 0.4), clamp_min=lambda y: y.clamp(min=0.1),
    clamp_max=lambda y: y.clamp(max=0.1), round_through=lambda y: y + y.round().detach(), floor_frac=lambda y: y - y.floor(),
    atan2=lambda y: torch.atan2(y, y.flip(1)), where=lambda y: torch.where(y > 0, y, 0.1 * y), heaviside=lambda y: y * (y > 0),
    add_alpha=lambda y: torch.add(y, y.flip(0), alpha=0.5), sub_alpha=lambda y: torch.sub(y, y.flip(0), alpha=0.5),
    rsub=lambda y: torch.rsub(y, 2.0, alpha=0.5), div_floor=lambda y: y + torch.div(y, 0.3, rounding_mode="floor"),
    div_trunc=lambda y: y + torch.div(y, 0.3, rounding_mode="trunc"), fmod=lambda y: torch.fmod(y, 0.3),
    remainder=lambda y: torch.remainder(y, 0.3), maximum=lambda y: torch.maximum(y, y.flip(0)),
    minimum=lambda y: torch.minimum(y, y.flip(0)), hypot=lambda y: torch.hypot(y, y.flip(0)),
    logaddexp=lambda y: torch.logaddexp(y, y.flip(0)), lerp=lambda y: torch.lerp(y, y.flip(0), 0.3),
    lerp_tensor=lambda y: torch.lerp(y, y.flip(0), y.sigmoid()), addcmul=lambda y: torch.addcmul(y, y.sin(), y.cos(), value=0.3),
    addcdiv=lambda y: torch.addcdiv(y, y.sin(), y.cos() + 2, value=0.3), xlogy=lambda y: torch.xlogy(y, y.abs() + 1),
    logit=lambda y: y.sigmoid().logit(eps=0.1), nan_to_num=lambda y: (y / (y > 0)).nan_to_num(0.5, 2.0, -2.0),
    broadcast=lambda y: y * y.mean(0) + y.sum(1, keepdim=True), erfc=lambda y: y.erfc(), sinh=lambda y: y.sinh(),
).items():
    through(name, f)
made("prelu", lambda: nn.Sequential(lin(), nn.PReLU(16)), 4, 16)
made("rrelu_eval", lambda: nn.Sequential(lin(), nn.RReLU(0.1, 0.5)), 4, 16, train=False)

# ---- products --------------------------------------------------------------------------------------------------------
made("linear", lambda: lin(), 4, 16)
made("linear_no_bias", lambda: lin(bias=False), 4, 16)
made("linear_3d", lambda: lin(), 4, 6, 16)
made("linear_one", lambda: lin(16, 1), 4, 16)
made("bilinear", lambda: Of(lambda s, a: s.b(a, s.l(a)), l=lin(), b=nn.Bilinear(16, 16, 8)), 4, 16)
for name, f in dict(
    mm=lambda y: y.t() @ y, bmm=lambda y: torch.bmm(y.view(4, 4, 4), y.view(4, 4, 4).transpose(1, 2)),
    matmul_broadcast=lambda y: y.view(4, 1, 4, 4) @ y.view(1, 4, 4, 4), mv=lambda y: y @ y[0], dot=lambda y: torch.dot(y[0], y[1]) * y,
    outer=lambda y: torch.outer(y[0], y[1]), addmm=lambda y: torch.addmm(y[:, :4], y, y.t(), beta=0.5, alpha=2.0),
    baddbmm=lambda y: torch.baddbmm(y.view(4, 4, 4), y.view(4, 4, 4), y.view(4, 4, 4), beta=0.3, alpha=0.7),
    addbmm=lambda y: torch.addbmm(y[:, :4], y.view(4, 4, 4), y.view(4, 4, 4), beta=0.3, alpha=0.7),
    addmv=lambda y: torch.addmv(y[:, 0], y, y[1], beta=0.3, alpha=0.7), addr=lambda y: torch.addr(y[:, :4], y[0, :4], y[1, :4], beta=0.3, alpha=0.7),
    einsum_two=lambda y: torch.einsum("bij,bkj->bik", y.view(4, 4, 4), y.view(4, 4, 4)),
    einsum_sum=lambda y: torch.einsum("bij,kl->bk", y.view(4, 4, 4), y), einsum_diagonal=lambda y: torch.einsum("bii->b", y.view(4, 4, 4)),
    einsum_three=lambda y: torch.einsum("bi,bj,bk->ijk", y[:, :4], y[:, 4:8], y[:, 8:12]),
    einsum_outer=lambda y: torch.einsum("bi,bj->bij", y, y), tensordot=lambda y: torch.tensordot(y.view(4, 4, 4), y.view(4, 4, 4), dims=([1, 2], [2, 1])),
    kron=lambda y: torch.kron(y[:2, :2], y[2:, 2:4]), chain=lambda y: torch.linalg.multi_dot([y.t(), y, y.t()]),
    cross=lambda y: torch.linalg.cross(y[:, :3], y[:, 3:6]), vecdot=lambda y: torch.linalg.vecdot(y, y.flip(0)),
).items():
    through(name, f)

# ---- reductions and softmax --------------------------------------------------------------------------------------------
for name, f in dict(
    mean=lambda y: y.mean(), mean_dims=lambda y: y.view(4, 2, 8).mean((0, 2)), mean_keepdim=lambda y: y - y.mean(-1, keepdim=True),
    sum_dtype=lambda y: y.sum(0, dtype=torch.float64).float(), prod=lambda y: y.prod(-1), prod_all=lambda y: y[:2, :2].prod() * y,
    var=lambda y: y.var(-1), var_biased=lambda y: y.var(0, correction=0), var_two=lambda y: y.var((0, 1), correction=2, keepdim=True) * y,
    std=lambda y: y.std(0, unbiased=False), std_unbiased=lambda y: y.std(-1, keepdim=True) * y,
    var_mean=lambda y: torch.var_mean(y, -1)[0] + torch.var_mean(y, -1)[1], norm_two=lambda y: y.norm(dim=-1),
    norm_one=lambda y: y.norm(p=1, dim=0), norm_inf=lambda y: torch.linalg.vector_norm(y, float("inf"), dim=-1),
    norm_three=lambda y: torch.linalg.vector_norm(y, 3, dim=(0, 1)) * y, frobenius=lambda y: torch.linalg.matrix_norm(y) * y,
    logsumexp=lambda y: y.logsumexp(-1), logsumexp_dims=lambda y: y.logsumexp((0, 1), keepdim=True) * y, amax=lambda y: y.amax(-1),
    amin_dims=lambda y: y.view(4, 4, 4).amin((0, 2)), max_dim=lambda y: y.max(-1).values, min_dim=lambda y: y.min(0, keepdim=True).values * y,
    max_all=lambda y: y.max() * y, cumsum=lambda y: y.cumsum(1), cumsum_rows=lambda y: y.cumsum(0), cumprod=lambda y: y.cumprod(1),
    logcumsumexp=lambda y: y.logcumsumexp(1), cummax=lambda y: y.cummax(1).values, median=lambda y: y.median(-1).values,
    nanmean=lambda y: y.nanmean(0), nansum=lambda y: y.nansum(0), softmax=lambda y: y.softmax(-1), softmax_rows=lambda y: y.softmax(0),
    softmax_double=lambda y: y.softmax(-1, dtype=torch.float64), log_softmax=lambda y: y.log_softmax(-1), softmin=lambda y: F.softmin(y, 1),
    trace=lambda y: (y.t() @ y).trace() * y, count_nonzero=lambda y: y * (y > 0).sum(), renorm=lambda y: torch.renorm(y, 2, 0, 0.5),
).items():
    through(name, f)

# ---- norms ---------------------------------------------------------------------------------------------------------------
for name, make, sizes, *train in (
    ("layer_norm", lambda: nn.LayerNorm(16), (4, 6, 16)), ("layer_norm_eps", lambda: nn.LayerNorm(16, eps=0.1), (4, 6, 16)),
    ("layer_norm_two", lambda: nn.LayerNorm((6, 16)), (4, 6, 16)), ("layer_norm_no_bias", lambda: nn.LayerNorm(16, bias=False), (4, 16)),
    ("layer_norm_plain", lambda: nn.Sequential(lin(), nn.LayerNorm(16, elementwise_affine=False)), (4, 16)),
    ("rms_norm", lambda: nn.RMSNorm(16, eps=1e-3), (4, 6, 16)), ("rms_norm_default", lambda: nn.RMSNorm(16), (4, 6, 16)),
    ("group_norm", lambda: nn.GroupNorm(4, 8), (4, 8, 5, 5)), ("group_norm_one", lambda: nn.GroupNorm(1, 8, eps=0.1), (4, 8, 5)),
    ("instance_norm", lambda: nn.InstanceNorm2d(8, affine=True), (4, 8, 5, 5)),
    ("instance_norm_running", lambda: nn.InstanceNorm1d(8, affine=True, track_running_stats=True), (4, 8, 5), False),
    ("batch_norm", lambda: nn.BatchNorm2d(8), (4, 8, 5, 5)), ("batch_norm_1d", lambda: nn.BatchNorm1d(8, eps=0.1), (24, 8)),
    ("batch_norm_3d", lambda: nn.BatchNorm3d(4), (4, 4, 3, 3, 3)), ("batch_norm_momentum", lambda: nn.BatchNorm1d(8, momentum=0.5), (24, 8)),
    ("batch_norm_untracked", lambda: nn.BatchNorm1d(8, track_running_stats=False), (6, 8)),
    ("batch_norm_plain", lambda: nn.Sequential(lin(16, 8), nn.BatchNorm1d(8, affine=False)), (6, 16)),
    ("batch_norm_eval", lambda: nn.BatchNorm2d(8), (4, 8, 5, 5), False),
    ("batch_norm_untracked_eval", lambda: nn.BatchNorm1d(8, track_running_stats=False), (6, 8), False),
    ("local_response_norm", lambda: nn.Sequential(nn.Conv2d(4, 8, 1), nn.LocalResponseNorm(3, alpha=0.1, beta=0.6, k=2.0)), (4, 4, 5, 5)),
    ("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 8, 3)), (4, 4, 9)),
):
    made(name, make, *sizes, train=train[0] if train else True)
for name, f in dict(
    normalize=lambda y: F.normalize(y, dim=-1), normalize_one=lambda y: F.normalize(y, p=1, dim=0, eps=0.5),
    cosine=lambda y: F.cosine_similarity(y, y.flip(0), dim=1), pairwise=lambda y: F.pairwise_distance(y, y.flip(0), p=2, eps=0.1),
    cdist=lambda y: torch.cdist(y, y.flip(0) + 1), cdist_one=lambda y: torch.cdist(y, y.flip(0) + 1, p=1.0), pdist=lambda y: F.pdist(y, p=2),
).items():
    through(name, f)

# ---- convolutions -----------------------------------------------------------------------------------------------------
for name, make, sizes in (
    ("conv1d", lambda: nn.Conv1d(4, 8, 3), (4, 4, 12)), ("conv1d_stride", lambda: nn.Conv1d(4, 8, 3, stride=2, padding=1), (4, 4, 12)),
    ("conv1d_dilation", lambda: nn.Conv1d(4, 8, 3, dilation=3, padding=2), (4, 4, 12)), ("conv1d_groups", lambda: nn.Conv1d(4, 8, 3, groups=2), (4, 4, 12)),
    ("conv1d_depthwise", lambda: nn.Conv1d(8, 8, 3, groups=8, padding=1), (4, 8, 12)), ("conv1d_multiplier", lambda: nn.Conv1d(4, 8, 3, groups=4), (4, 4, 12)),
    ("conv1d_patches", lambda: nn.Conv1d(4, 8, 3, stride=3), (4, 4, 12)), ("conv1d_same", lambda: nn.Conv1d(4, 8, 4, padding="same"), (4, 4, 12)),
    ("conv1d_causal", lambda: Of(lambda s, a: s.c(F.pad(a, (2, 0))), c=nn.Conv1d(4, 8, 3)), (4, 4, 12)),
    ("conv2d", lambda: nn.Conv2d(3, 8, 3, padding=1), (4, 3, 8, 8)), ("conv2d_one", lambda: nn.Conv2d(3, 8, 1, bias=False), (4, 3, 8, 8)),
    ("conv2d_stride", lambda: nn.Conv2d(3, 8, 3, stride=2), (4, 3, 8, 8)), ("conv2d_uneven", lambda: nn.Conv2d(3, 8, (1, 3), stride=(1, 2), padding=(0, 1), dilation=(2, 1)), (4, 3, 8, 8)),
    ("conv2d_patches", lambda: nn.Conv2d(3, 8, 4, stride=4), (4, 3, 8, 8)), ("conv2d_groups", lambda: nn.Conv2d(4, 8, 3, groups=2, bias=False), (4, 4, 8, 8)),
    ("conv2d_depthwise", lambda: nn.Conv2d(8, 8, 3, groups=8, padding=1), (4, 8, 8, 8)), ("conv2d_circular", lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"), (4, 3, 8, 8)),
    ("conv2d_reflect", lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"), (4, 3, 8, 8)), ("conv2d_replicate", lambda: nn.Conv2d(3, 8, 3, padding=2, padding_mode="replicate"), (4, 3, 8, 8)),
    ("conv2d_unbatched", lambda: nn.Conv2d(3, 8, 3), (3, 8, 8)), ("conv3d", lambda: nn.Conv3d(2, 4, 3, padding=1), (2, 2, 5, 5, 5)),
    ("conv3d_stride", lambda: nn.Conv3d(2, 4, 2, stride=2), (2, 2, 4, 4, 4)), ("conv_transpose1d", lambda: nn.ConvTranspose1d(4, 8, 3), (4, 4, 6)),
    ("conv_transpose1d_stride", lambda: nn.ConvTranspose1d(4, 8, 4, stride=2, padding=1), (4, 4, 6)),
    ("conv_transpose2d", lambda: nn.ConvTranspose2d(3, 4, 4, stride=2, padding=1), (4, 3, 6, 6)),
    ("conv_transpose2d_output", lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), (4, 3, 6, 6)),
    ("conv_transpose2d_groups", lambda: nn.ConvTranspose2d(4, 8, 2, stride=2, groups=2), (4, 4, 6, 6)),
    ("conv_transpose2d_dilation", lambda: nn.ConvTranspose2d(3, 4, 3, dilation=2, bias=False), (4, 3, 6, 6)),
    ("conv_transpose3d", lambda: nn.ConvTranspose3d(2, 4, 2, stride=2), (2, 2, 3, 3, 3)),
):
    made(name, make, *sizes)

# ---- pooling, resizing, padding ------------------------------------------------------------------------------------------
for name, f, *channels in (
    ("max_pool2d", lambda y: F.max_pool2d(y, 2)), ("max_pool2d_stride", lambda y: F.max_pool2d(y, 3, stride=2, padding=1)),
    ("max_pool2d_dilation", lambda y: F.max_pool2d(y, 2, stride=1, dilation=2)), ("max_pool2d_ceil", lambda y: F.max_pool2d(y, 3, stride=2, ceil_mode=True)),
    ("avg_pool2d", lambda y: F.avg_pool2d(y, 2)), ("avg_pool2d_pad", lambda y: F.avg_pool2d(y, 3, stride=2, padding=1, count_include_pad=False)),
    ("avg_pool2d_counted", lambda y: F.avg_pool2d(y, 3, stride=2, padding=1)), ("avg_pool2d_divisor", lambda y: F.avg_pool2d(y, 2, divisor_override=3)),
    ("avg_pool2d_ceil", lambda y: F.avg_pool2d(y, 3, stride=2, ceil_mode=True)), ("adaptive_avg", lambda y: F.adaptive_avg_pool2d(y, 2)),
    ("adaptive_avg_one", lambda y: F.adaptive_avg_pool2d(y, 1)), ("adaptive_avg_uneven", lambda y: F.adaptive_avg_pool2d(y, (3, 5))),
    ("adaptive_max", lambda y: F.adaptive_max_pool2d(y, 2)), ("lp_pool", lambda y: F.lp_pool2d(y.abs() + 0.1, 2, 2)),
    ("nearest", lambda y: F.interpolate(y, scale_factor=2, mode="nearest")), ("nearest_exact", lambda y: F.interpolate(y, size=(11, 5), mode="nearest-exact")),
    ("bilinear_resize", lambda y: F.interpolate(y, size=(11, 5), mode="bilinear", align_corners=False)),
    ("bilinear_corners", lambda y: F.interpolate(y, size=(11, 5), mode="bilinear", align_corners=True)),
    ("bilinear_antialias", lambda y: F.interpolate(y, size=(4, 4), mode="bilinear", antialias=True)), ("bicubic", lambda y: F.interpolate(y, size=(11, 5), mode="bicubic")),
    ("pixel_shuffle", lambda y: F.pixel_shuffle(y, 2)), ("pixel_unshuffle", lambda y: F.pixel_unshuffle(y, 2)), ("channel_shuffle", lambda y: F.channel_shuffle(y, 2)),
    ("pad_constant", lambda y: F.pad(y, (1, 2, 0, 1), value=0.5)), ("pad_negative", lambda y: F.pad(y, (-1, 2))), ("pad_reflect", lambda y: F.pad(y, (1, 2, 2, 1), mode="reflect")),
    ("pad_replicate", lambda y: F.pad(y, (1, 2, 2, 1), mode="replicate")), ("pad_circular", lambda y: F.pad(y, (1, 2, 2, 1), mode="circular")),
    ("unfold", lambda y: F.unfold(y, 3, padding=1, stride=2)), ("fold", lambda y: F.fold(F.unfold(y, 2), (8, 8), 2)),
    ("grid_sample", lambda y: F.grid_sample(y, y[:, :2].permute(0, 2, 3, 1).tanh(), align_corners=False)), ("roll", lambda y: y.roll((1, -2), (2, 3))),
):
    add(name, lambda s, a, f=f: sq(f(s.c(a))), lambda: x(4, 3, 8, 8), c=lambda: nn.Conv2d(3, 4, 1))
for name, f in dict(max_pool1d=lambda y: F.max_pool1d(y, 2), avg_pool1d=lambda y: F.avg_pool1d(y, 3, stride=2, padding=1), adaptive_avg1d=lambda y: F.adaptive_avg_pool1d(y, 4),
                    max_pool_indices=lambda y: F.max_unpool1d(*F.max_pool1d(y, 2, return_indices=True), 2), linear_resize=lambda y: F.interpolate(y, size=10, mode="linear")).items():
    through(name, f, 4, 3, 16)

# ---- looking up, moving -----------------------------------------------------------------------------------------------------
for name, options in dict(embedding={}, embedding_padding=dict(padding_idx=3), embedding_by_frequency=dict(scale_grad_by_freq=True), embedding_all=dict(padding_idx=0, scale_grad_by_freq=True)).items():
    add(name, lambda s, i: sq(s.l(s.e(i))), lambda: ids(of=10), e=lambda options=options: nn.Embedding(10, 16, **options), l=lin)
for name, mode in (("bag_mean", "mean"), ("bag_sum", "sum"), ("bag_max", "max")):
    add("embedding_" + name, lambda s, i: sq(s.e(i)), lambda: ids(of=10), e=lambda mode=mode: nn.EmbeddingBag(10, 16, mode=mode))
for name, f in dict(
    gather=lambda y, i: y.gather(1, i), index_select=lambda y, i: y.index_select(1, i[0]), take_along=lambda y, i: y.take_along_dim(i, 1),
    scatter=lambda y, i: torch.zeros(4, 16).scatter(1, i[:, :1], y[:, :1]) + y, scatter_add=lambda y, i: torch.zeros(4, 16).scatter_add(1, i, y),
    scatter_reduce=lambda y, i: torch.zeros(4, 16).scatter_reduce(1, i, y, "amax"), scatter_mean=lambda y, i: torch.ones(4, 16).scatter_reduce(1, i, y, "mean", include_self=False),
    index_add=lambda y, i: torch.zeros(16, 16).index_add(0, i[0, :4], y, alpha=0.5), index_copy=lambda y, i: torch.zeros(4, 16).index_copy(1, torch.arange(3), y[:, :3]),
    index_pairs=lambda y, i: y[torch.arange(4)[:, None], i], index_rows=lambda y, i: y[i[0] % 4], index_put=lambda y, i: torch.zeros(4, 16).index_put((i[:, 0] % 4, i[:, 1]), y[:, 0], accumulate=True),
    masked_fill=lambda y, i: y.masked_fill(i > 8, 0.5), masked_assign=lambda y, i: assign_masked(y, i > 8), one_hot=lambda y, i: F.one_hot(i, 16).float() @ y.t(),
    where_index=lambda y, i: torch.where(i > 8, y, y.flip(0)), bucketize=lambda y, i: y * torch.bucketize(y.detach(), torch.linspace(-1, 1, 5)),
).items():
    add(name, lambda s, a, i, f=f: sq(f(s.l(a), i)), lambda: x(), lambda: ids(4, 16, of=16), l=lin)


def assign_masked(y, mask):
    y = y.clone()
    y[mask] = 0.25
    return y


def assign_slice(y):
    z = y.clone()
    z[:, 2:6] = y[:, 6:10] * 2
    z[0].zero_()
    return z


for name, f in dict(
    flip=lambda y: y.flip(0, 1) * y, tril=lambda y: (y.t() @ y).tril(-1), triu=lambda y: (y.t() @ y).triu(2), diagonal=lambda y: (y.t() @ y).diagonal(1), diag_embed=lambda y: torch.diag_embed(y),
    topk=lambda y: y.topk(3, -1).values, topk_small=lambda y: y.topk(3, 0, largest=False).values, sort=lambda y: y.sort(-1, descending=True).values * torch.arange(16), kthvalue=lambda y: y.kthvalue(3, -1).values,
    argmax=lambda y: y * (torch.arange(16) == y.argmax(-1, keepdim=True)), unfold_windows=lambda y: y.unfold(1, 4, 2), narrow=lambda y: y.narrow(1, 3, 5), chunk=lambda y: y.chunk(3, 1)[2], split_sizes=lambda y: y.split([3, 5, 8], 1)[1] * 2,
    tensor_split=lambda y: y.tensor_split(3, 1)[0], cat=lambda y: torch.cat([y, y.sin(), y[:, :3]], 1), stack=lambda y: torch.stack([y, y.cos()], 1), repeat=lambda y: y.repeat(2, 3), tile=lambda y: y.tile(3) * torch.arange(48),
    repeat_interleave=lambda y: y.repeat_interleave(2, 1) * torch.arange(32), expand=lambda y: y[:, None].expand(4, 3, 16) * torch.arange(3)[:, None], rot90=lambda y: y.rot90() * torch.arange(4), movedim=lambda y: y.view(4, 2, 8).movedim(1, 2) * torch.arange(2),
    as_strided=lambda y: y.as_strided((4, 5), (16, 3)), slice_step=lambda y: y[:, 1::3], slice_negative=lambda y: y[:, -5:-1], select=lambda y: y[:, 3] * y[:, -1], unbind=lambda y: y.unbind(1)[2], squeeze=lambda y: y[:, :1].squeeze(1), assign_slice=assign_slice,
    meshgrid=lambda y: torch.meshgrid(y[0], y[1], indexing="ij")[0] * y[2], block_diag=lambda y: torch.block_diag(y[:2, :2], y[2:, :3]),
    relu_in_place=lambda y: F.relu_(y), add_in_place=lambda y: y.add_(y.sin().detach()).mul_(2), clamp_in_place=lambda y: y.clamp_(min=0.1), pow_in_place=lambda y: y.pow_(2), masked_fill_in_place=lambda y: y.masked_fill_(y.detach() > 0.2, 0.5),
    fill_diagonal=lambda y: (y.t() @ y).fill_diagonal_(0.5), detach=lambda y: y.detach() * y, detach_half=lambda y: torch.cat([y[:, :8].detach(), y[:, 8:]], 1).exp(),
).items():
    through(name, f)

# ---- losses ------------------------------------------------------------------------------------------------------------------
weights = torch.linspace(0.5, 1.5, 16)
for name, f in dict(
    cross_entropy={}, cross_entropy_sum=dict(reduction="sum"), cross_entropy_weight=dict(weight=weights), cross_entropy_ignore=dict(ignore_index=3),
    cross_entropy_smooth=dict(label_smoothing=0.2), cross_entropy_all=dict(weight=weights, label_smoothing=0.1, ignore_index=2),
    cross_entropy_weight_sum=dict(weight=weights, reduction="sum", label_smoothing=0.3),
).items():
    add(name, lambda s, a, y, f=f: F.cross_entropy(s.l(a), y, **f), lambda: x(12, 16), lambda: ids(12, of=16), l=lin)
add("cross_entropy_none", lambda s, a, y: sq(F.cross_entropy(s.l(a), y, reduction="none")), lambda: x(12, 16), lambda: ids(12, of=16), l=lin)
add("cross_entropy_images", lambda s, a, y: F.cross_entropy(s.l(a), y, weight=torch.linspace(0.5, 1.5, 21), ignore_index=1), lambda: x(4, 3, 6, 6), lambda: ids(4, 6, 6, of=21), l=lambda: nn.Conv2d(3, 21, 1))
add("cross_entropy_soft", lambda s, a, y: F.cross_entropy(s.l(a), y.softmax(-1), label_smoothing=0.1), lambda: x(12, 16), lambda: x(12, 16), l=lin)
add("cross_entropy_tokens", lambda s, a, y: F.cross_entropy(s.l(a).flatten(0, 1), y.flatten()), lambda: x(4, 6, 16), lambda: ids(4, 6, of=16), l=lin)
add("nll", lambda s, a, y: F.nll_loss(s.l(a).log_softmax(-1), y, weight=weights, ignore_index=3), lambda: x(12, 16), lambda: ids(12, of=16), l=lin)
add("nll_images", lambda s, a, y: F.nll_loss(s.l(a).log_softmax(1), y), lambda: x(4, 3, 6, 6), lambda: ids(4, 6, 6, of=21), l=lambda: nn.Conv2d(3, 21, 1))
add("multi_margin", lambda s, a, y: F.multi_margin_loss(s.l(a), y, p=2, margin=0.5), lambda: x(12, 16), lambda: ids(12, of=16), l=lin)
for name, f in dict(
    mse=lambda p, y: F.mse_loss(p, y), mse_sum=lambda p, y: F.mse_loss(p, y, reduction="sum"), mse_none=lambda p, y: sq(F.mse_loss(p, y, reduction="none")),
    l1=lambda p, y: F.l1_loss(p, y), smooth_l1=lambda p, y: F.smooth_l1_loss(p, y, beta=0.3), huber=lambda p, y: F.huber_loss(p, y, delta=0.4, reduction="sum"),
    bce=lambda p, y: F.binary_cross_entropy(p.sigmoid(), y.sigmoid(), weight=y.abs()), bce_logits=lambda p, y: F.binary_cross_entropy_with_logits(p, y.sigmoid()),
    bce_logits_all=lambda p, y: F.binary_cross_entropy_with_logits(p, y.sigmoid(), weight=y.abs(), pos_weight=weights, reduction="sum"),
    kl_batch=lambda p, y: F.kl_div(p.log_softmax(-1), y.softmax(-1), reduction="batchmean"), kl_log=lambda p, y: F.kl_div(p.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction="sum"),
    kl_mean=lambda p, y: F.kl_div(p.log_softmax(-1), y.softmax(-1)), hinge=lambda p, y: F.hinge_embedding_loss(p, y.sign(), margin=0.5), soft_margin=lambda p, y: F.soft_margin_loss(p, y.sign()),
    margin_ranking=lambda p, y: F.margin_ranking_loss(p, p.flip(0), y.sign(), margin=0.2), cosine_embedding=lambda p, y: F.cosine_embedding_loss(p, y, y[:, 0].sign(), margin=0.1),
    triplet=lambda p, y: F.triplet_margin_loss(p, y, y.flip(0), margin=0.7, p=1), triplet_swap=lambda p, y: F.triplet_margin_loss(p, y, y.flip(0), swap=True), poisson=lambda p, y: F.poisson_nll_loss(p, y.abs(), full=False),
    poisson_plain=lambda p, y: F.poisson_nll_loss(p.abs(), y.abs(), log_input=False, eps=0.1),
    multilabel_soft=lambda p, y: F.multilabel_soft_margin_loss(p, (y > 0).float(), weight=weights), several_terms=lambda p, y: F.mse_loss(p, y) + 0.1 * p.abs().mean(),
).items():
    add("loss_" + name, lambda s, a, y, f=f: f(s.l(a), y), lambda: x(), lambda: x(), l=lin)

# ---- over sequences -----------------------------------------------------------------------------------------------------------
for name, make in dict(
    lstm=lambda: nn.LSTM(16, 8, batch_first=True), lstm_two=lambda: nn.LSTM(16, 8, 2), lstm_both=lambda: nn.LSTM(16, 8, bidirectional=True, bias=False), lstm_projected=lambda: nn.LSTM(16, 8, proj_size=4),
    gru=lambda: nn.GRU(16, 8, batch_first=True), gru_two=lambda: nn.GRU(16, 8, 2, bidirectional=True), rnn_tanh=lambda: nn.RNN(16, 8), rnn_relu=lambda: nn.RNN(16, 8, nonlinearity="relu", batch_first=True),
).items():
    add(name, lambda s, a: sq(s.r(a)[0]), lambda: x(4, 5, 16), r=make)
add("lstm_cell", lambda s, a: sq(s.r(a, (a[:, :8], a[:, 8:]))[0]), lambda: x(4, 16), r=lambda: nn.LSTMCell(16, 8))
add("gru_cell", lambda s, a: sq(s.r(a, a[:, :8])), lambda: x(4, 16), r=lambda: nn.GRUCell(16, 8))


def heads(f, kv=4):
    def forward(s, a, *more):
        q = s.q(a).view(4, 6, 4, 4).transpose(1, 2)
        k, v = (t.view(4, 6, kv, 4).transpose(1, 2) for t in s.kv(a).chunk(2, -1))
        return sq(s.o(f(q, k, v, *more).transpose(1, 2).flatten(2)))

    return forward, dict(q=lin, kv=lambda: lin(16, 8 * kv), o=lin)


sdpa = F.scaled_dot_product_attention
for name, f, kv, *more in (
    ("attention", lambda q, k, v: sdpa(q, k, v), 4), ("attention_causal", lambda q, k, v: sdpa(q, k, v, is_causal=True), 4), ("attention_scale", lambda q, k, v: sdpa(q, k, v, scale=0.3), 4),
    ("attention_bool", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), 4, lambda: (torch.rand(4, 1, 6, 6) > 0.4) | torch.eye(6, dtype=torch.bool)),
    ("attention_bias", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), 4, lambda: x(1, 4, 6, 6)),
    ("attention_bias_of_heads", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), 4, lambda: x(4, 6, 6)), ("attention_groups", lambda q, k, v: sdpa(q, k, v, is_causal=True, enable_gqa=True), 2),
    ("attention_by_hand", lambda q, k, v: ((q @ k.transpose(-1, -2)) / 2).masked_fill(torch.ones(6, 6).triu(1) > 0, float("-inf")).softmax(-1) @ v, 4),
    ("attention_dropout", lambda q, k, v: sdpa(q, k, v, dropout_p=0.3, is_causal=True), 4), ("attention_short", lambda q, k, v: sdpa(q[:, :, :3], k, v, is_causal=True), 4),
):
    if name == "attention_short":
        add(name, lambda s, a, f=f: sq(f(s.q(a).view(4, 6, 4, 4).transpose(1, 2), s.kv(a)[..., :16].reshape(4, 6, 4, 4).transpose(1, 2), s.kv(a)[..., 16:].reshape(4, 6, 4, 4).transpose(1, 2))), lambda: x(4, 6, 16), q=lin, kv=lambda: lin(16, 32))
        continue
    forward, children = heads(f, kv)
    add(name, forward, lambda: x(4, 6, 16), *more, **children)
add("multihead", lambda s, a: sq(s.m(a, a, a, need_weights=False)[0]), lambda: x(4, 6, 16), m=lambda: nn.MultiheadAttention(16, 4, batch_first=True))
add("multihead_weights", lambda s, a: sq(s.m(a, a, a)[0]) + sq(s.m(a, a, a)[1]), lambda: x(4, 6, 16), m=lambda: nn.MultiheadAttention(16, 4, batch_first=True, bias=False, add_zero_attn=True))
made("encoder", lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0, norm_first=True), 4, 6, 16)
made("encoder_dropout", lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.2, activation="gelu"), 4, 6, 16)
made("encoder_eval", lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.2), 4, 6, 16, train=False)
add("decoder", lambda s, a, b: sq(s.m(a, b)), lambda: x(4, 6, 16), lambda: x(4, 5, 16), m=lambda: nn.TransformerDecoderLayer(16, 4, 32, batch_first=True, dropout=0.0))

# ---- random numbers ------------------------------------------------------------------------------------------------------------
for name, f in dict(
    dropout=lambda y: F.dropout(y, 0.3), dropout_in_place=lambda y: F.dropout(y + 1, 0.2, inplace=True), dropout_off=lambda y: F.dropout(y, 0.3, training=False), dropout_all=lambda y: F.dropout(y, 1.0) + y,
    dropout_none=lambda y: F.dropout(y, 0.0), dropout_twice=lambda y: F.dropout(F.dropout(y, 0.3).relu(), 0.5), dropout_channels=lambda y: F.dropout1d(y.view(4, 4, 4), 0.5), alpha_dropout=lambda y: F.alpha_dropout(y, 0.3, training=True),
    rand_like=lambda y: y * torch.rand_like(y), randn_like=lambda y: y + torch.randn_like(y), rand=lambda y: y * torch.rand(4, 1), randn=lambda y: y * torch.randn(16), bernoulli=lambda y: y * torch.bernoulli(y.detach().sigmoid()),
    bernoulli_in_place=lambda y: y * torch.empty(4, 1).bernoulli_(0.7).div_(0.7), uniform_in_place=lambda y: y + torch.empty_like(y).uniform_(-1, 2), normal_in_place=lambda y: y + torch.empty_like(y).normal_(0.3, 0.1), randperm=lambda y: y[torch.randperm(4)],
    randint=lambda y: y * torch.randint(0, 5, (4, 16)), rrelu=lambda y: F.rrelu(y, 0.1, 0.4, training=True),
).items():
    through("random_" + name, f)

# ---- types ---------------------------------------------------------------------------------------------------------------------
for dtype in (torch.bfloat16, torch.float16, torch.float64):
    short = str(dtype).split(".")[1]
    for name, make, sizes in (("linear", lambda: nn.Sequential(lin(), nn.GELU(), lin()), (4, 16)), ("layer_norm", lambda: nn.Sequential(lin(), nn.LayerNorm(16)), (4, 16)), ("conv", lambda: nn.Conv2d(3, 4, 3), (4, 3, 6, 6))):
        add(f"{name}_{short}", lambda s, a, d=dtype: (s.m(a.to(d)).float() if d != torch.float64 else s.m(a.to(d))).pow(2).mean(), lambda sizes=sizes: x(*sizes), m=lambda make=make, d=dtype: make().to(d))
    add(f"attention_{short}", lambda s, a, d=dtype: sq(sdpa(*(t.view(4, 6, 4, 4).transpose(1, 2) for t in s.l(a.to(d)).chunk(3, -1)), is_causal=True)), lambda: x(4, 6, 16), l=lambda d=dtype: lin(16, 48).to(d))
    add(f"cross_entropy_{short}", lambda s, a, y, d=dtype: F.cross_entropy(s.l(a.to(d)), y), lambda: x(12, 16), lambda: ids(12, of=16), l=lambda d=dtype: lin().to(d))
add("mixed_types", lambda s, a: sq(s.b(s.a(a).bfloat16()).float() + s.a(a)), lambda: x(), a=lin, b=lambda: lin().bfloat16())
add("type_promotion", lambda s, a, i: sq(s.l(a) * i + (i > 2) + i // 2), lambda: x(), lambda: ids(4, 16, of=5), l=lin)
add("integers", lambda s, a, i: sq(s.l(a) * ((i % 3) * 2 - (i & 1) + (i ^ 3))), lambda: x(), lambda: ids(4, 16, of=9), l=lin)
add("mask_of_integers", lambda s, a, i: (s.l(a) * i[..., None]).sum() / i.sum(), lambda: x(4, 6, 16), lambda: (torch.rand(4, 6) > 0.3).long(), l=lin)
add("mask_of_bools", lambda s, a, m: sq(s.l(a).masked_fill(~m[..., None], 0.0)), lambda: x(4, 6, 16), lambda: torch.rand(4, 6) > 0.3, l=lin)

# ---- complex numbers --------------------------------------------------------------------------------------------------------------
c = torch.view_as_complex
for name, f in dict(
    complex_residual=lambda y: y + torch.view_as_real(c(y.view(4, 8, 2)) * torch.tensor(1j)).flatten(1), complex_product=lambda y: torch.view_as_real(c(y.view(4, 8, 2)) * c(y.sin().view(4, 8, 2))), complex_abs=lambda y: c(y.view(4, 8, 2)).abs(),
    complex_angle=lambda y: c(y.view(4, 8, 2)).angle(), complex_conj=lambda y: (c(y.view(4, 8, 2)).conj() * c(y.cos().view(4, 8, 2))).real, complex_imag=lambda y: c(y.view(4, 8, 2)).exp().imag, complex_polar=lambda y: torch.view_as_real(torch.polar(y.abs(), y)),
    complex_make=lambda y: torch.complex(y, y.sin()).pow(2).real, complex_matmul=lambda y: torch.view_as_real(c(y.view(4, 8, 2)) @ c(y.view(4, 8, 2)).t()), complex_rotary=lambda y: torch.view_as_real(c(y.view(4, 8, 2)) * torch.polar(torch.ones(8), torch.arange(8).float())).flatten(1),
    fft=lambda y: torch.fft.fft(y).real, fft_imag=lambda y: torch.fft.fft(y, norm="ortho").imag, fft_rows=lambda y: torch.fft.fft(y, dim=0).abs().pow(2), ifft=lambda y: torch.fft.ifft(c(y.view(4, 8, 2)), norm="forward").real, fft2=lambda y: torch.fft.fft2(y.view(4, 4, 4)).real,
    rfft=lambda y: torch.view_as_real(torch.fft.rfft(y)), rfft_filter=lambda y: torch.fft.irfft(torch.fft.rfft(y) * torch.arange(9), n=16), irfft_short=lambda y: torch.fft.irfft(c(y.view(4, 8, 2)), n=12), rfft2=lambda y: torch.fft.irfft2(torch.fft.rfft2(y.view(4, 4, 4)) * 2, s=(4, 4)),
    fft_padded=lambda y: torch.fft.fft(y, n=20).real, fftshift=lambda y: torch.fft.fftshift(torch.fft.fft(y), dim=1).real * torch.arange(16),
).items():
    through(name, f)
add("complex_residual_two", lambda s, a: sq(s.a(a) + s.o(torch.fft.fft(s.b(s.a(a))).real)), lambda: x(), a=lin, b=lin, o=lin)

# ---- what is trained ------------------------------------------------------------------------------------------------------------
def tied():
    m = Of(lambda s, i: F.cross_entropy(s.h(s.e(i)).flatten(0, 1), i.flatten()), e=nn.Embedding(50, 16), h=nn.Linear(16, 50, bias=False))
    m.h.weight = m.e.weight
    return m, (ids(),)


# Names that plan scripts write in quotes.
add("named_oddly", lambda s, a: sq(getattr(s, "by")(getattr(s, "fc-1")(a).tanh())), lambda: x(), **{"fc-1": lin, "by": lin})


def frozen():
    m = Of(lambda s, a: sq(s.l(a) + s.b(s.a(a)) * 2), l=lin(), a=lin(16, 4, bias=False), b=lin(4, 16, bias=False))
    m.l.requires_grad_(False)
    return m, (x(),)


def no_grad_part(s, a):
    with torch.no_grad():
        t = s.a(a)
    return sq(s.b(a) + t)


def called_twice(s, a):
    return sq(s.l(F.relu(s.l(a))))


MODULES.update(tied=tied, frozen=frozen)
add("no_grad_part", no_grad_part, lambda: x(), a=lin, b=lin)
add("called_twice", called_twice, lambda: x(), l=lin)
add("own_parameter", lambda s, a: sq(a * s.w + s.w.sum()), lambda: x(), w=lambda: nn.Parameter(torch.randn(16)))
add("buffer", lambda s, a: sq(s.l(a) * s.w), lambda: x(), l=lin, w=lambda: torch.randn(16))
add("unused_output", lambda s, a: (sq(s.l(a)), s.l(a).detach().relu()), lambda: x(), l=lin)
add("loss_second", lambda s, a: (s.l(a), sq(s.l(a))), lambda: x(), l=lin)
add("checkpointed", lambda s, a: sq(torch.utils.checkpoint.checkpoint(s.l, a, use_reentrant=False)), lambda: x(), l=lambda: nn.Sequential(lin(), nn.ReLU(), lin()))



# ---- operators that write into what they are given ----------------------------------------------------------------------------
def out_buffer(s, a):
    h = s.l(a)
    with torch.no_grad():
        torch.add(s.u, h.mean(0), out=s.u)
    return sq(h * s.u)


def out_reductions(s, a):
    h = s.l(a)
    with torch.no_grad():
        e, z, w = torch.empty(16), torch.zeros(4, 16), torch.ones(4, 16)
        torch.mean(h, 0, out=e)
        torch.cumsum(h, 0, out=z)
        torch.where(h > 0, h, -h, out=w)
        m, n = torch.empty(4), torch.empty(4, dtype=torch.int64)
        torch.max(h, 1, out=(m, n))
    return sq(h * e + w * z + m.view(4, 1) + n.view(4, 1))


def out_view(s, a):
    h = s.l(a)
    torch.mul(s.u[1], h.detach().mean(0), out=s.u[1])
    return sq(h * s.u.sum(0))


def complex_slice_written(s, a):
    z = c(s.l(a).view(4, 8, 2)) * 1
    z[:, 0] = z[:, 1].conj()
    z[1].fill_(2 - 1j)
    z.diagonal()[:2] = 1j * z[0, :2]
    return sq(z)


def dropouts_in_place(s, a):
    h = F.alpha_dropout(s.l(a), 0.2, True, inplace=True)
    return sq(F.feature_alpha_dropout(h.view(4, 4, 4), 0.3, True) + F.dropout(s.l(a), 0.5, True, inplace=True).view(4, 4, 4))


add("out_buffer", out_buffer, lambda: x(), l=lin, u=lambda: torch.ones(16))
add("out_reductions", out_reductions, lambda: x(), l=lin)
add("out_view", out_view, lambda: x(), l=lin, u=lambda: torch.ones(3, 16))
add("complex_slice_written", complex_slice_written, lambda: x(), l=lin)
add("dropouts_in_place", dropouts_in_place, lambda: x(), l=lin)
MODULES["spectral_norm"] = lambda: (Of(lambda s, a: sq(s.l(a)), l=nn.utils.parametrizations.spectral_norm(lin())), (x(),))
for name, f in dict(
    complex_mH=lambda y: sq(c(y.view(4, 8, 2)) @ c(y.sin().view(4, 8, 2)).mH), complex_adjoint=lambda y: sq(c(y.view(4, 8, 2)).adjoint() * 1j + 1),
    complex_H=lambda y: sq(c(y.view(4, 8, 2)).H + torch.arange(4)), complex_transposed=lambda y: sq(c(y.view(4, 8, 2)).mT + 1j),
    matrix_power_5=lambda y: torch.matrix_power(y.view(4, 4, 4), 5) / 100, matrix_power_2=lambda y: torch.linalg.matrix_power(y.view(4, 4, 4), 2),).items():
    through(name, f)


def cond_apart(s, a):
    return sq(torch.cond(a.sum() > 0, lambda z: s.a(z).sin(), lambda z: s.b(z).cos(), (a,)))


add("cond_apart", cond_apart, lambda: x(), a=lin, b=lin)


def looped_step(s, carry, row):
    """The second result has the type that it names, whatever the carry has."""
    carry = torch.tanh(s.a(carry) + row)
    return carry, (carry * carry).to(torch.float32)


def looped_rounds(s, a):
    return torch.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 0.5 + 1), (torch.tensor(0), a))[1]


def loop_of_branches(s, a):
    def step(carry, row):
        carry = torch.cond(carry.sum() > 0, lambda z: s.a(z).sin(), lambda z: s.b(z).cos(), (carry + row,))
        return carry, carry.clone()

    return sq(scan(step, torch.zeros(4, 16), a)[1])


add("loop_map", lambda s, a: sq(map_rows(lambda z: torch.tanh(s.a(z)), a)), lambda: x(), a=lin)
add("loop_scan", lambda s, a: sq(scan(lambda c, r: looped_step(s, c, r), torch.zeros(4, 16), a)[1]), lambda: x(6, 4, 16), a=lin)
add("loop_while", lambda s, a: sq(s.a(a) + looped_rounds(s, a)), lambda: x(), a=lin)
add("loop_while_gradient", lambda s, a: sq(looped_rounds(s, s.a(a))), lambda: x(), a=lin)
add("loop_of_branches", loop_of_branches, lambda: x(6, 4, 16), a=lin, b=lin)

add("embedding_sparse", lambda s, i: sq(s.l(s.e(i))), lambda: ids(), e=lambda: nn.Embedding(50, 16, sparse=True), l=lin)


add("attention_given_values", lambda s, a: sq(F.scaled_dot_product_attention(s.q(a), s.k(a), a)), lambda: x(2, 4, 32, 16), q=lin, k=lin)
add("attention_given_keys", lambda s, a: sq(F.scaled_dot_product_attention(s.q(a), a, a, is_causal=True)), lambda: x(2, 4, 32, 16), q=lin)


def routed_rows(s, a):
    """Each expert computes the rows that are routed to it: how many, the data say."""
    chosen = s.r(a).argmax(-1)
    out = torch.zeros_like(a)
    for k, expert in enumerate((s.a, s.b)):
        (rows,) = torch.where(chosen == k)
        out.index_add_(0, rows, expert(a[rows]))
    return sq(out)


add("experts_by_where", routed_rows, lambda: x(8, 16), r=lambda: lin(16, 2), a=lin, b=lin)


# ---- losses with terms of whole numbers, of nearly nothing, and of a type of their own -----------------------------------
add("loss_and_count", lambda s, a: sq(s.l(a)) + 0.01 * (a > 0).sum(), x, l=lin)
add("loss_and_counter", lambda s, a: sq(s.l(a)) + s.n * 1e-3, x, l=lin, n=lambda: torch.zeros((), dtype=torch.int64))
add("loss_less_half", lambda s, a: sq(s.l(a)) - s.n * 0.5, x, l=lin, n=lambda: torch.tensor(3))
add("loss_and_mean_count", lambda s, a: sq(s.l(a)) + torch.arange(3).sum().div(100), x, l=lin)
add("loss_of_sure_classes", lambda s, a: F.cross_entropy(s.l(a) + 40 * F.one_hot(torch.arange(4), 16), torch.arange(4)), x, l=lin)
add("loss_contrastive", lambda s, a: F.cross_entropy(F.normalize(s.l(a), dim=1) @ F.normalize(a, dim=1).T / 0.05, torch.arange(4)), x,
    l=lambda: nn.Linear(16, 16))
add("loss_of_float16", lambda s, a: F.cross_entropy(s.l(a).half(), torch.arange(4)), x, l=lin)
add("loss_of_bfloat16", lambda s, a: F.cross_entropy(s.l(a).bfloat16(), torch.arange(4)), x, l=lin)
