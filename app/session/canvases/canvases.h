#pragma once
// The canvases of a session: what each draws, as a pure function of its state. Surfaces know them by the list alone and host them with
// viz/scenes.
//
//   for (const CanvasInfo& c : canvases())
//     if (c.source(state).of) scene->load(c.model(state)), scene->mark(c.marks(state));
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

// What a model is made of: two states with the same source have the same model, so that it is made once.
struct CanvasSource {
  std::shared_ptr<const void> of;  // null: there is nothing to draw
  std::string with;                // what the session says besides: what is expanded, by what it is coloured
  bool operator==(const CanvasSource&) const = default;
};

// Why there is nothing to draw, and how to mend that. Empty: nothing is missing.
struct Missing {
  std::string why, hint;
};

// What a picture is of, for its caption; and why that is not the plan as it stands, empty: it is.
struct PictureOf {
  std::string what, old;
};

PictureOf picture_of_plan(const State&);
PictureOf picture_of_comparison(const State&);

// What else a canvas is written as, beside pictures and the rows of its twin.
struct CanvasFile {
  const char* ending;  // `.dot`
  Result<std::string> (*make)(const State&);
};

struct CanvasInfo {
  const char* id;
  const char* scene;  // that draws it (viz/scenes)
  const char* title;
  const char* twin;   // the panel with the same rows
  const char* empty;  // what is said where there is nothing to draw: what the canvas is for, and the first step
  CanvasSource (*source)(const State&);
  std::string (*model)(const State&);                // bytes; of states with a source alone
  std::vector<std::string> (*marks)(const State&);  // ids of what is selected
  std::vector<CanvasFile> files = {};
  // What the canvas itself lacks, whatever the plan is; without it, a canvas lacks the figures of the plan.
  Missing (*missing)(const State&) = nullptr;
  PictureOf (*of)(const State&) = picture_of_plan;  // of a state with a source
};
std::span<const CanvasInfo> canvases();

// What keys and gestures do in a canvas, for the sheet of shortcuts.
struct CanvasKey {
  const char* keys;
  const char* about;
};
std::span<const CanvasKey> keys_of(const CanvasInfo&);

// What a surface says of a canvas beside its picture.
struct CanvasWords {
  std::string stale;  // over a picture that is not of the plan as it stands: of what it is, and why
  std::string empty;  // where there is none: what the canvas is for, and the first step, or what is in the way
};
CanvasWords words_of(const CanvasInfo&, const State&);
Diagnostic no_picture(const CanvasInfo&, const State&);  // of a canvas without a source

CanvasSource compare_source(const State&);
Missing missing_comparison(const State&);
std::string compare_model(const State&);
std::vector<std::string> compare_marks(const State&);
CanvasSource graph_source(const State&);
std::string graph_model(const State&);
std::vector<std::string> graph_marks(const State&);
Result<std::string> graph_dot(const State&);  // in the language of Graphviz

CanvasSource timeline_source(const State&);
viz::TimelineModel timeline_shown(const State&);  // as the lanes are shown; a plan has been predicted
std::string timeline_model(const State&);
std::vector<std::string> timeline_marks(const State&);

CanvasSource tensor_source(const State&);
Missing missing_tensor(const State&);
std::string tensor_model(const State&);
std::vector<std::string> tensor_marks(const State&);

CanvasSource traffic_source(const State&);
std::string traffic_model(const State&);
std::vector<std::string> traffic_marks(const State&);
Result<std::string> traffic_pattern_csv(const State&);  // for those who tune collectives
Result<std::string> traffic_pattern_json(const State&);

}  // namespace planscope::session
