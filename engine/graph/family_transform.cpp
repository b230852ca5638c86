// Fourier transforms along whole dimensions; all others are free. A transform is linear, also the ones between real and
// complex numbers (over the reals, which is all that partial sums need).
//
//   fft_rfft(x[b, s, k], dim=-1) -> y[b, s, k / 2 + 1]      {free b, free s, frozen k, frozen k / 2 + 1}
#include <algorithm>
#include <set>
#include <string_view>

#include "engine/graph/draft.h"
#include "engine/graph/element_types.h"

namespace planscope {

namespace {

enum class Dims : std::uint8_t { one, last_two, all };  // where none are given

struct Transform {
  std::string_view target;
  Dims dims;
};

constexpr Transform transforms[] = {
    {"aten::fft_fft", Dims::one},        {"aten::fft_ifft", Dims::one},       {"aten::fft_rfft", Dims::one},
    {"aten::fft_irfft", Dims::one},      {"aten::fft_hfft", Dims::one},       {"aten::fft_ihfft", Dims::one},
    {"aten::fft_fft2", Dims::last_two},  {"aten::fft_ifft2", Dims::last_two}, {"aten::fft_rfft2", Dims::last_two},
    {"aten::fft_irfft2", Dims::last_two}, {"aten::fft_hfft2", Dims::last_two}, {"aten::fft_ihfft2", Dims::last_two},
    {"aten::fft_fftn", Dims::all},       {"aten::fft_ifftn", Dims::all},      {"aten::fft_rfftn", Dims::all},
    {"aten::fft_irfftn", Dims::all},     {"aten::fft_hfftn", Dims::all},      {"aten::fft_ihfftn", Dims::all},
    {"aten::fft_fftshift", Dims::all},   {"aten::fft_ifftshift", Dims::all},  {"aten::_fft_c2c", Dims::all},
    {"aten::_fft_r2c", Dims::all},       {"aten::_fft_c2r", Dims::all},
};

// The dimensions along which it works: as given, else by its kind; where sizes alone are given, as many of the last ones.
std::set<int> transformed(RuleContext& c, Dims otherwise, int rank) {
  std::set<int> out;
  for (const std::int64_t d : c.integers("dim")) out.insert(static_cast<int>(d < 0 ? d + rank : d));
  if (!out.empty()) return out;
  const int sizes = static_cast<int>(c.integers("s").size());
  const int count = otherwise == Dims::one ? 1 : otherwise == Dims::last_two ? 2 : sizes > 0 ? sizes : rank;
  for (int d = std::max(0, rank - count); d < rank; ++d) out.insert(d);
  return out;
}

}  // namespace

bool apply_transform(RuleContext& c) {
  const auto* row = std::find_if(std::begin(transforms), std::end(transforms),
                                 [&](const Transform& t) { return t.target == c.node.target; });
  if (row == std::end(transforms) || c.draft.inputs.size() != 1 || c.node.outputs.size() != 1) return false;
  const auto sizes = c.sizes(c.draft.inputs[0].tensor), out = c.output_sizes();
  if (sizes.size() != out.size()) return false;
  c.any("n s norm normalization forward onesided last_dim_size");
  const std::string reason = "transformed along it";
  const std::set<int> along = transformed(c, row->dims, static_cast<int>(sizes.size()));
  c.begin_outputs();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    const bool whole = along.count(dim) > 0;
    if (!whole && sizes[d] != out[d]) return false;
    const FactorKind kind = whole ? FactorKind::frozen : FactorKind::free;
    const int f = c.factor("", kind, c.parts_of(0, dim), whole ? reason : "");
    c.tie(0, dim, f);
    c.output_dim(0, sizes[d] == out[d] ? f : c.factor("", kind, c.fresh(out[d]), reason));
  }
  c.draft.linear.push_back({0});
  const auto complex = [&](ValueId v) { return is_complex(c.model.values[static_cast<std::size_t>(v)].dtype); };
  if (!complex(c.draft.inputs[0].tensor) && complex(c.node.outputs[0])) c.draft.saves = {0};  // for its sizes
  c.draft.rule = c.node.target.substr(6);
  return true;
}

}  // namespace planscope
