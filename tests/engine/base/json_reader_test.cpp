// JSON files of users: what is read, and what is told of what cannot be.
#include <catch2/catch.hpp>
#include <random>

#include "engine/base/json_reader.h"

using namespace planscope;

namespace {

const std::string kText = R"({"name": "two", "count": 3, "rate": 2.5,
 "items": [{"at": [0, 1]}, {"at": [2, null]}], "none": null})";

// What is told of a text read by `read`.
template <class F>
std::string told(const std::string& text, F&& read) {
  JsonReader reader("the thing", "t.json");
  read(reader.parse(text));
  CHECK(reader.failed() == has_errors(reader.diagnostics()));
  return to_string(reader.diagnostics());
}

}  // namespace

TEST_CASE("fields are read") {
  JsonReader reader("the thing", "t.json");
  const JsonValue json = reader.parse(kText);
  REQUIRE(json);
  CHECK(json.field("name").text() == "two");
  CHECK(json.field("count").whole(0, 9) == 3);
  CHECK(json.field("rate").number(0, 9) == 2.5);
  CHECK(json.keys() == std::vector<std::string>{"name", "count", "rate", "items", "none"});
  CHECK(!json.find("other"));
  CHECK(json.find("none").is_null());
  std::vector<std::int64_t> all;
  for (const JsonValue item : json.list("items"))
    for (const JsonValue n : item.list("at")) all.push_back(n.is_null() ? -1 : n.whole(0, 9));
  CHECK(all == std::vector<std::int64_t>{0, 1, 2, -1});
  CHECK(!reader.failed());
  CHECK(reader.diagnostics().empty());
}

TEST_CASE("whole numbers are whole, however they are written") {
  JsonReader reader("the thing", "t.json");
  const JsonValue json = reader.parse(R"({"n": [3.0, 1e18, -9223372036854775808, 9223372036854775807]})");
  const JsonValue n = json.list("n");
  CHECK(n[0].whole(0, 9) == 3);
  CHECK(n[1].whole(0, INT64_MAX) == 1'000'000'000'000'000'000);
  CHECK(n[2].whole(INT64_MIN, INT64_MAX) == INT64_MIN);
  CHECK(n[3].whole(INT64_MIN, INT64_MAX) == INT64_MAX);
  CHECK(!reader.failed());
}

TEST_CASE("what is wrong is told with its place") {
  const auto nothing = [](const JsonValue&) {};
  CHECK(told("{\n\"a\": oops}", nothing) == "t.json:2: this is not JSON; a syntax error near byte 8\n");
  CHECK(told("", nothing) == "t.json:1: this is not JSON; a syntax error near byte 1\n");
  CHECK(told("{\"a\": 1e999}", nothing) == "t.json: this is not JSON; a number in it is too large\n");
  CHECK(told("[1]", nothing) == "t.json: the thing is not a JSON object\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("nam"); }) == "t.json: field 'nam' is missing\n");
  CHECK(told(kText, [](const JsonValue& j) { j.list("items")[1].field("x"); }) ==
        "t.json: field 'items[1].x' is missing\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("name").field("x"); }) == "t.json: 'name' is not an object\n");
  CHECK(told(kText, [](const JsonValue& j) { j.list("name"); }) == "t.json: 'name' is not a list\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("count").text(); }) == "t.json: 'count' is not text\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("name").number(0, 1); }) == "t.json: 'name' is not a number\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("rate").number(3, 1e18); }) ==
        "t.json: 'rate' is 2.5, outside 3 to 1e+18\n");
  CHECK(told(kText, [](const JsonValue& j) { j.field("rate").whole(0, 9); }) ==
        "t.json: 'rate' is not a whole number\n");
  CHECK(told(kText, [](const JsonValue& j) { j.list("items")[1].list("at")[1].whole(0, 9); }) ==
        "t.json: 'items[1].at[1]' is not a whole number\n");
  CHECK(told(kText, [](const JsonValue& j) { j.list("items")[1].list("at")[0].whole(0, 1); }) ==
        "t.json: 'items[1].at[0]' is 2, outside 0 to 1\n");
  CHECK(told("{\"n\": 18446744073709551615}", [](const JsonValue& j) { j.field("n").whole(0, INT64_MAX); }) ==
        "t.json: 'n' is 18446744073709551615, outside 0 to 9223372036854775807\n");
}

TEST_CASE("fields that nobody reads are told") {
  const std::vector<std::string> known = {"names", "count", "rate", "items", "none"};
  CHECK(told(kText, [&](const JsonValue& j) { j.only(known, Severity::error); }) ==
        "t.json: the thing has an unknown field 'name'; did you mean 'names'?\n");
  CHECK(told(kText, [&](const JsonValue& j) { j.list("items")[0].only({"x"}, Severity::warning); }) ==
        "t.json: warning: 'items[0]' has the field 'at', which is not read; known fields: x\n");
}

TEST_CASE("what is not there is read as nothing, with one message") {
  CHECK(told(kText, [](const JsonValue& j) {
          const JsonValue none = j.field("other");
          CHECK(none.field("more").list("x")[3].whole(4, 9) == 4);
          CHECK(none.text().empty());
          none.only({}, Severity::error);
          none.fail("is wrong");
        }) == "t.json: field 'other' is missing\n");
}

TEST_CASE("twenty messages are enough, and warnings hide no error") {
  std::string text = "{";
  for (int i = 0; i < 50; ++i) text += "\"a" + std::to_string(i) + "\": \"\", ";
  text += "\"n\": 0}";
  JsonReader reader("the thing", "t.json");
  const JsonValue json = reader.parse(text);
  json.only({}, Severity::warning);
  CHECK(reader.diagnostics().size() == 20);
  CHECK(!reader.failed());
  for (int i = 0; i < 50; ++i) json.field("n").whole(1, 2);
  CHECK(reader.failed());
  CHECK(reader.diagnostics().size() == 40);
}

TEST_CASE("damaged texts are read or refused") {
  std::mt19937 random(5);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = kText;
    for (int k = 0; k <= i % 3; ++k) {
      const std::size_t where = random() % text.size();
      if (random() % 2)
        text[where] = "0123456789[]{},:.\"ne-"[random() % 21];
      else
        text.erase(where, 1 + random() % 4);
      if (text.empty()) text = "{";
    }
    JsonReader reader("the thing", "t.json");
    const JsonValue json = reader.parse(text);
    json.only({"name", "count", "rate", "items", "none"}, Severity::error);
    json.field("name").text();
    json.field("count").whole(0, 9);
    for (const JsonValue item : json.list("items"))
      for (const JsonValue n : item.list("at"))
        if (!n.is_null()) n.whole(0, 9);
    CHECK((json || reader.failed()));
    read += reader.failed() ? 0 : 1;
  }
  CHECK(read > 10);
}

TEST_CASE("depth has an end") {
  const auto nested = [](std::size_t n) {
    return "{\"a\": \"[\\\"[\", \"c\": " + std::string(n, '[') + std::string(n, ']') + ", \"b\": 1}";
  };
  const auto read = [](const JsonValue& j) { j.field("b").text(); };
  CHECK(told(nested(999), read) == "t.json: 'b' is not text\n");
  CHECK(told(nested(1000), read) == "t.json: lists stand within lists more than 1000 deep\n");
  CHECK(told(nested(1'000'000), read) == "t.json: lists stand within lists more than 1000 deep\n");
}
