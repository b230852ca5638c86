#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "planner/search/schedule/case.h"

namespace planscope::schedule {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostTime = std::int64_t{1} << 40;
constexpr std::int64_t kMostMemory = std::int64_t{1} << 50;
constexpr std::int64_t kMostDevices = 1 << 16;
constexpr std::int64_t kMostMicroBatches = 1 << 20;
constexpr std::int64_t kMostBlocks = 1 << 16;

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<Case> read(const Json& json) {
    if (!json.is_object()) fail("the case is not a JSON object");
    if (errors_.empty()) fields(json);
    if (!errors_.empty()) return errors_;
    Result<Case> out = case_;
    out.diagnostics = warnings_;
    return out;
  }

 private:
  void fields(const Json& json) {
    only(json, "the case", {"name", "devices", "memory", "micro_batches", "blocks", "after", "order"});
    if (json.contains("name") && json["name"].is_string()) case_.name = json["name"].get<std::string>();
    case_.devices = static_cast<int>(whole(json, "devices", "devices", 1, kMostDevices));
    read_micro_batches(json);
    read_memory(json);
    const Json* blocks = list(json, "blocks");
    if (blocks && blocks->size() > static_cast<std::size_t>(kMostBlocks)) fail("more than 65536 blocks");
    for (std::size_t i = 0; blocks && i < blocks->size() && errors_.size() < 20; ++i)
      read_block((*blocks)[i], "blocks[" + std::to_string(i) + "]");
    const Json* after = list(json, "after");
    for (std::size_t i = 0; after && i < after->size() && errors_.size() < 20; ++i)
      read_precedence((*after)[i], "after[" + std::to_string(i) + "]");
    const Json* order = json.contains("order") ? list(json, "order") : nullptr;
    for (std::size_t i = 0; order && i < order->size() && errors_.size() < 20; ++i)
      read_relation((*order)[i], "order[" + std::to_string(i) + "]");
  }

  void read_micro_batches(const Json& json) {
    const auto found = json.find("micro_batches");
    if (found != json.end() && found->is_array() && !found->empty()) {
      for (std::size_t i = 0; i < found->size(); ++i)
        case_.micro_batches.push_back(
            static_cast<int>(number((*found)[i], "micro_batches[" + std::to_string(i) + "]", 1, kMostMicroBatches)));
      return;
    }
    case_.micro_batches = {static_cast<int>(whole(json, "micro_batches", "micro_batches", 1, kMostMicroBatches))};
  }

  void read_memory(const Json& json) {
    const auto count = static_cast<std::size_t>(std::max(0, case_.devices));
    const auto found = json.find("memory");
    case_.memory.assign(count, std::nullopt);
    if (found == json.end() || found->is_null()) return;
    if (!found->is_array()) {
      case_.memory.assign(count, number(*found, "memory", 0, kMostMemory));
      return;
    }
    if (found->size() != count)
      return fail("'memory' has " + std::to_string(found->size()) + " numbers for " + std::to_string(count) +
                  " devices");
    for (std::size_t d = 0; d < count; ++d)
      if (!(*found)[d].is_null())
        case_.memory[d] = number((*found)[d], "memory[" + std::to_string(d) + "]", 0, kMostMemory);
  }

  void read_block(const Json& json, const std::string& place) {
    if (!json.is_object()) return fail("'" + place + "' is not an object");
    only(json, "'" + place + "'", {"name", "devices", "time", "memory", "stream", "kind"});
    Block b;
    b.name = "block " + std::to_string(case_.blocks.size());
    if (json.contains("name") && json["name"].is_string()) b.name = json["name"].get<std::string>();
    const Json* devices = list(json, "devices", place);
    for (std::size_t i = 0; devices && i < devices->size(); ++i)
      b.devices.push_back(static_cast<int>(
          number((*devices)[i], place + ".devices[" + std::to_string(i) + "]", 0, std::max(0, case_.devices - 1))));
    std::sort(b.devices.begin(), b.devices.end());
    b.devices.erase(std::unique(b.devices.begin(), b.devices.end()), b.devices.end());
    b.time = whole(json, "time", place + ".time", 0, kMostTime);
    if (json.contains("memory")) b.memory = number(json["memory"], place + ".memory", -kMostMemory, kMostMemory);
    if (json.contains("stream")) b.stream = stream(json["stream"], place + ".stream");
    if (json.contains("kind"))
      b.kind = static_cast<int>(
          number(json["kind"], place + ".kind", 0, static_cast<std::int64_t>(case_.micro_batches.size()) - 1));
    case_.blocks.push_back(std::move(b));
  }

  int stream(const Json& json, const std::string& place) {
    if (!json.is_string()) {
      fail("'" + place + "' is not text");
      return 0;
    }
    const std::string name = json.get<std::string>();
    const auto found = std::find(case_.streams.begin(), case_.streams.end(), name);
    if (found != case_.streams.end()) return static_cast<int>(found - case_.streams.begin());
    case_.streams.push_back(name);
    return static_cast<int>(case_.streams.size()) - 1;
  }

  void read_precedence(const Json& json, const std::string& place) {
    if (!json.is_array() || json.size() < 2 || json.size() > 4)
      return fail("'" + place +
                  "' is not a list [before, after], [before, after, delay] or [before, after, delay, distance]");
    const auto last = static_cast<std::int64_t>(case_.blocks.size()) - 1;
    Precedence p;
    p.before = static_cast<int>(number(json[0], place + "[0]", 0, last));
    p.after = static_cast<int>(number(json[1], place + "[1]", 0, last));
    if (json.size() > 2) p.delay = number(json[2], place + "[2]", 0, kMostTime);
    if (json.size() > 3)
      p.distance = static_cast<int>(number(json[3], place + "[3]", -kMostMicroBatches, kMostMicroBatches));
    case_.after.push_back(p);
  }

  void read_relation(const Json& json, const std::string& place) {
    if (!json.is_array() || json.size() < 2 || json.size() > 5)
      return fail(
          "'" + place +
          "' is not a list [before, after], [before, after, distance] or [before, after, distance, first, count]");
    const auto last = static_cast<std::int64_t>(case_.blocks.size()) - 1;
    Relation r;
    r.before = static_cast<int>(number(json[0], place + "[0]", 0, last));
    r.after = static_cast<int>(number(json[1], place + "[1]", 0, last));
    if (json.size() > 2)
      r.distance = static_cast<int>(number(json[2], place + "[2]", -kMostMicroBatches, kMostMicroBatches));
    if (json.size() > 3) r.first = static_cast<int>(number(json[3], place + "[3]", 0, kMostMicroBatches));
    if (json.size() > 4) r.count = static_cast<int>(number(json[4], place + "[4]", 1, kMostMicroBatches));
    r.row = static_cast<int>(case_.rows.size());
    case_.rows.push_back(place);
    case_.order.push_back(r);
  }

  const Json* list(const Json& json, const std::string& key, const std::string& place = {}) {
    const auto found = json.find(key);
    const std::string name = place.empty() ? key : place + "." + key;
    if (found == json.end()) {
      fail("field '" + name + "' is missing");
      return nullptr;
    }
    if (!found->is_array()) {
      fail("'" + name + "' is not a list");
      return nullptr;
    }
    return &*found;
  }

  std::int64_t whole(const Json& json, const char* key, const std::string& place, std::int64_t least,
                     std::int64_t most) {
    const auto found = json.find(key);
    if (found != json.end()) return number(*found, place, least, most);
    fail("field '" + place + "' is missing");
    return least;
  }

  std::int64_t number(const Json& json, const std::string& place, std::int64_t least, std::int64_t most) {
    if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)) {
      fail("'" + place + "' is not a whole number");
      return least;
    }
    const auto n = json.get<std::int64_t>();
    if (n >= least && n <= most) return n;
    fail("'" + place + "' is " + std::to_string(n) + ", outside " + std::to_string(least) + " to " +
         std::to_string(most));
    return least;
  }

  void only(const Json& json, const std::string& place, const std::vector<std::string>& known) {
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string near = nearest(key, known);
      Diagnostic d = warning(place + " has the field '" + key + "', which is not read", {},
                             near.empty() ? "known fields: " + join(known, ", ") : "did you mean '" + near + "'?");
      d.file = file_;
      warnings_.push_back(std::move(d));
    }
  }

  void fail(const std::string& what) {
    Diagnostic d = error(what);
    d.file = file_;
    errors_.push_back(std::move(d));
  }

  std::string file_;
  Case case_;
  std::vector<Diagnostic> errors_, warnings_;
};

}  // namespace

Result<Case> from_json(const std::string& text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& e) {
    Diagnostic d = error("this is not JSON", e.what(), "docs/command-line.md, Schedules, shows what a case looks like");
    d.file = file;
    return d;
  }
  Result<Case> out = Reader(file).read(json);
  if (!out.value) return out;
  for (Diagnostic& d : check(*out)) {
    d.file = file;
    out.diagnostics.push_back(std::move(d));
  }
  return out;
}

}  // namespace planscope::schedule
