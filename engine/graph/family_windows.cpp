// Operators over planes: pooling, interpolation, padding by what is there, windows as columns. What stands before the plane
// (batch, channels) is free, the plane is whole.
#include <algorithm>
#include <cmath>

#include "engine/graph/draft.h"
#include "engine/graph/windows.h"

namespace planscope {

int dimensions_of(const std::string& target) {
  for (std::size_t at = 0; at + 1 < target.size(); ++at)
    if (target[at] >= '1' && target[at] <= '3' && target[at + 1] == 'd') return target[at] - '0';
  return 0;
}

const char* plane_name(int dimensions, int k) {
  static constexpr const char* names[] = {"frames", "height", "width"};
  return names[3 - dimensions + k];
}

std::int64_t at_or(const std::vector<std::int64_t>& list, int k, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[std::min(static_cast<std::size_t>(k), list.size() - 1)];
}

namespace {

enum class Size { window, constant, scale, pad };  // how that of a plane follows from the input's

struct Row {
  const char* name;  // what the target begins with
  Size size;
  bool linear;
  bool saves;  // its backward reads the input, if only for its sizes
};

constexpr Row rows[] = {
    {"aten::max_pool", Size::window, false, true},
    {"aten::avg_pool", Size::window, true, true},
    {"aten::adaptive_avg_pool", Size::constant, true, true},
    {"aten::_adaptive_avg_pool", Size::constant, true, true},
    {"aten::adaptive_max_pool", Size::constant, false, true},
    {"aten::upsample_", Size::scale, true, false},
    {"aten::_upsample_", Size::scale, true, false},
    {"aten::reflection_pad", Size::pad, true, true},
    {"aten::replication_pad", Size::pad, true, true},
};

// Windows of which a last one may hang over have no linear relation.
void relate_window(RuleContext& c, int k, const std::vector<int>& in, const std::vector<int>& out, std::int64_t from,
                   std::int64_t to) {
  if (c.boolean("ceil_mode")) return;
  const std::int64_t kernel = at_or(c.integers("kernel_size"), k, 1), stride = at_or(c.integers("stride"), k, kernel);
  const std::int64_t constant = 2 * at_or(c.integers("padding"), k, 0) -
                                at_or(c.integers("dilation"), k, 1) * (kernel - 1) - 1 + stride;
  if (stride > 0 && (from + constant) / stride == to) c.relate(out, {in}, constant, 1, stride);
}

void relate_scale(RuleContext& c, int k, const std::vector<int>& in, const std::vector<int>& out, std::int64_t from,
                  std::int64_t to) {
  const Argument* scales = c.argument("scale_factors");
  const auto* list = scales ? std::get_if<std::vector<double>>(scales) : nullptr;
  if (!list) return c.relate(out, {}, to);
  const double scale = static_cast<std::size_t>(k) < list->size() ? (*list)[static_cast<std::size_t>(k)] : 0;
  const auto whole = static_cast<std::int64_t>(scale);
  if (whole > 0 && static_cast<double>(whole) == scale && whole * from == to) return c.relate(out, {in}, 0, whole);
  const auto part = scale > 0 ? static_cast<std::int64_t>(std::llround(1 / scale)) : 0;
  if (part > 0 && 1 / static_cast<double>(part) == scale && from / part == to) c.relate(out, {in}, 0, 1, part);
}

bool plane(RuleContext& c, const Row& row, int spatial) {
  const std::vector<std::int64_t> in = c.sizes(c.draft.inputs[0].tensor);
  const int rank = static_cast<int>(in.size()), before = rank - spatial;
  if (before < 1 || c.draft.inputs.size() != 1) return false;
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o)
    if (c.node.outputs[o] < 0 || c.output_sizes(static_cast<int>(o)).size() != in.size() ||
        c.output_sizes(static_cast<int>(o)) != c.output_sizes())
      return false;
  c.begin_outputs();
  std::vector<int> factors;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t from = in[static_cast<std::size_t>(d)], to = c.output_sizes()[static_cast<std::size_t>(d)];
    if (d < before) {
      if (from != to) return false;
      factors.push_back(c.factor("", FactorKind::free, c.parts_of(0, d)));
      c.tie(0, d, factors.back());
      continue;
    }
    const int k = d - before;
    const char* name = plane_name(spatial, k);
    c.tie(0, d, c.factor(name, FactorKind::frozen, c.parts_of(0, d), "windows overlap"));
    const std::vector<int> out = c.fresh(to);
    if (row.size == Size::window) relate_window(c, k, c.parts_of(0, d), out, from, to);
    if (row.size == Size::constant) c.relate(out, {}, to);
    if (row.size == Size::scale) relate_scale(c, k, c.parts_of(0, d), out, from, to);
    if (row.size == Size::pad) c.relate(out, {c.parts_of(0, d)}, to - from);
    factors.push_back(c.factor(name, FactorKind::frozen, out, "windows overlap"));
  }
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o)
    for (const int f : factors) c.output_dim(static_cast<int>(o), f);
  if (row.linear) c.draft.linear.push_back({0});
  // The mean of a whole plane is computed as one (LibTorch's adaptive_avg_pool2d), and needs nothing backward.
  const std::vector<std::int64_t> to = c.output_sizes();
  const bool mean = row.linear && row.size == Size::constant &&
                    std::all_of(to.begin() + before, to.end(), [](std::int64_t size) { return size == 1; });
  if (row.saves && !mean) c.draft.saves = {0};
  if (c.node.outputs.size() == 2) c.draft.saves.push_back(-2);  // where the largest elements were
  return true;
}

// im2col: [b.., c, h, w] -> [b.., (c k l), windows]; col2im is its reverse.
bool columns(RuleContext& c, bool back) {
  const std::vector<std::int64_t> in = c.sizes(c.draft.inputs[0].tensor), out = c.output_sizes();
  const std::vector<std::int64_t>&picture = back ? out : in, &matrix = back ? in : out;
  if (picture.size() < 3 || matrix.size() + 1 != picture.size() || c.draft.inputs.size() != 1) return false;
  const std::size_t channel = picture.size() - 3;
  const std::int64_t count = picture[channel];
  if (count < 1 || matrix[channel] % count != 0) return false;
  c.begin_outputs();
  if (channel == 1) {
    const int batch = c.factor("", FactorKind::free, c.parts_of(0, 0));
    c.tie(0, 0, batch);
    c.output_dim(0, batch);
  }
  const std::vector<int> places = c.fresh(matrix[channel] / count);
  std::vector<int> own = back ? c.fresh(count) : c.parts_of(0, static_cast<int>(channel)), both = own;
  both.insert(both.end(), places.begin(), places.end());
  if (back && !c.agree(c.parts_of(0, static_cast<int>(channel)), both)) return false;
  const int channels = c.factor("", FactorKind::free, own);
  const int kernel = c.factor("kernel", FactorKind::frozen, places, "windows overlap");
  std::vector<DraftRef> picture_refs, matrix_refs;
  for (std::size_t k = 0; k < own.size(); ++k) picture_refs.push_back({channels, static_cast<int>(k)});
  matrix_refs = picture_refs;
  if (!places.empty()) matrix_refs.push_back({kernel, 0});
  c.draft.inputs[0].dims[channel] = back ? matrix_refs : picture_refs;
  c.draft.outputs[0].dims.push_back(back ? picture_refs : matrix_refs);
  for (std::size_t d = channel + 1; d < in.size(); ++d)
    c.tie(0, static_cast<int>(d),
          c.factor("", FactorKind::frozen, c.parts_of(0, static_cast<int>(d)), "windows overlap"));
  for (std::size_t d = channel + 1; d < out.size(); ++d) {
    const std::vector<int> nodes = c.fresh(out[d]);
    if (back) c.relate(nodes, {}, out[d]);
    c.output_dim(0, c.factor("", FactorKind::frozen, nodes, "windows overlap"));
  }
  c.draft.linear.push_back({0});
  return true;
}

// Tensor.unfold: windows of one dimension, whose elements stand last.
bool unfold(RuleContext& c) {
  const std::vector<std::int64_t> in = c.sizes(c.draft.inputs[0].tensor), out = c.output_sizes();
  const auto rank = static_cast<std::int64_t>(in.size());
  std::int64_t dim = c.integer("dimension");
  const std::int64_t size = c.integer("size"), step = c.integer("step", 1);
  dim = dim < 0 ? dim + rank : dim;
  if (dim < 0 || dim >= rank || out.size() != in.size() + 1 || step < 1) return false;
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(rank); ++d) {
    const bool slides = d == dim;
    const int f = c.factor("", slides ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d),
                           slides ? "windows overlap" : "");
    c.tie(0, d, f);
    if (!slides) {
      c.output_dim(0, f);
      continue;
    }
    const std::vector<int> windows = c.fresh(out[static_cast<std::size_t>(d)]);
    c.relate(windows, {c.parts_of(0, d)}, step - size, 1, step);
    c.output_dim(0, c.factor("", FactorKind::frozen, windows, "windows overlap"));
  }
  const int last = c.factor("kernel", FactorKind::frozen, c.fresh(size), "windows overlap");
  c.counted(last);
  c.output_dim(0, last);
  c.draft.linear.push_back({0});
  return true;
}

}  // namespace

bool apply_windows(RuleContext& c) {
  const std::string& t = c.node.target;
  if (c.draft.inputs.empty() || c.node.outputs.empty() || c.node.random) return false;
  c.any("kernel_size stride padding dilation ceil_mode count_include_pad divisor_override output_size align_corners");
  c.any("scale_factors scales scales_h scales_w scales_d");
  bool done = false;
  if (t == "aten::im2col" || t == "aten::col2im")
    done = columns(c, t == "aten::col2im");
  else if (t == "aten::unfold")
    done = unfold(c);
  else if (const int spatial = dimensions_of(t); spatial > 0)
    for (const Row& row : rows)
      if (t.starts_with(row.name)) done = plane(c, row, spatial);
  if (done) c.draft.rule = t.substr(6);
  return done;
}

}  // namespace planscope
