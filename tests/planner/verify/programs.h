#pragma once
// Programs to verify: the tiny models and a transformer under plans of every kind that verify must know.
#include <string>
#include <vector>

#include "../../engine/program/tiny_experts.h"
#include "engine/cluster/cluster.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "tests/support/model_builder.h"

namespace planscope::tiny {

struct NamedPlan {
  std::string name, text;
  bool experts = false;    // of tiny_experts
  bool attention = false;  // of a transformer
  std::string verdict = "equivalent";
};

inline std::vector<NamedPlan> plans() {
  const std::string stages = "let S = cut layers.* into |pipe|\nassign S[i] to pipe=i\n";
  const std::string steps = "order f(S[i])[step=t+n-1-i] < b(S[i])[step=t] < f(S[i])[step=t+n-i] where n = |S|\n";
  const std::string tensor = "trans layers.*.up out by tensor\ntrans layers.*.down in by tensor\n";
  const std::string keys = "trans layers[*].attn:scaled_dot_product_attention keys ";
  const std::string heads =
      "trans layers[*].attn.{q,k,v} out by tensor\ntrans layers[*].attn:scaled_dot_product_attention heads by tensor\n"
      "trans layers[*].attn.o in by tensor\n";
  return {
      {"one device", "devices 1\n"},
      {"data", "devices 4 as data=4\ntrans * batch by data\n"},
      {"micro-batches", "devices 1\naxis mb=4\ntrans * batch by mb\n"},
      {"tensor, vocabulary", "devices 4 as data=2 tensor=2\naxis mb=2\ntrans * batch by mb, data\n" + tensor +
                                 "trans embed vocab by tensor\ntrans head out by tensor\n"},
      {"sequence", "devices 4 as data=2 tensor=2\ntrans * batch by data\ntrans * seq by tensor\n" + tensor},
      {"a home in uneven blocks", "devices 16 as tensor=16\ntrans update(embed) dim0 by tensor\n"},
      {"pipeline", "devices 8 as pipe=2 data=2 tensor=2\naxis mb=4\n" + stages + "trans * batch by mb, data\n" +
                       tensor + "use 1f1b(S)\n"},
      {"gpipe", "devices 4 as pipe=4\naxis mb=4\n" + stages + "trans * batch by mb\nuse gpipe(S)\n"},
      {"recompute", "devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\ntrans layers.* recompute\n"},
      {"zero 1", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(1, *, data)\n"},
      {"zero 2", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(2, *, data)\n"},
      {"zero 3", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(3, *, data)\n"},
      {"two directions",
       "devices 4 as pipe=2 data=2\naxis mb=4\nlet S = cut layers.* into |pipe|\n"
       "trans * batch by mb, data\nassign S[i][mb=m] to pipe=i where m % 2 = 0\n"
       "assign S[i][mb=m] to pipe=1-i where m % 2 = 1\n"},
      {"single sub-operators",
       "devices 3 as data=3\naxis slice=3\nassign * to all\n"
       "trans layers.0.up out by slice sizes balanced\n"
       "trans layers.0.down in by slice sizes balanced\n"
       "assign layers.0.{up,down}[slice=i] to data=2-i\n"},
      {"optimizer in host memory",
       "devices 2 as data=2\naxis mb=2\nlet L = layers.*\ntrans * batch by mb, data\n"
       "trans update(*) offload\n"
       "order load(update(L[i+1])) < update(L[i]) < store(update(L[i]))\n"},
      {"asynchronous pipeline",
       "devices 4 as pipe=4\naxis mb=2\n" + stages +
           "trans * batch by mb\nuse 1f1b(S)\nrelax fetch(S[i]) lag |S|-1-i\n",
       false, false, "relaxed"},
      {"overlapping steps", "devices 4 as pipe=4\n" + stages + "relax fetch(S[i]) lag |S|-1-i\n" + steps, false, false,
       "relaxed"},
      {"overlapping steps of micro-batches, zero 3, recompute",
       "devices 4 as pipe=2 data=2\naxis mb=2\n" + stages +
           "trans * batch by mb, data\ntrans layers.* recompute\nuse zero(3, *, data)\n"
           "relax fetch(S[i]) lag |S|-1-i\n" +
           steps,
       false, false, "relaxed"},
      {"a forward ahead of the last backward, some parameters older",
       "devices 2 as data=2\naxis mb=4\ntrans * batch by mb, data\nrelax fetch(*) lag 2\n"
       "order f(*)[step=t+1, mb=0] < b(*)[step=t, mb=3]\n",
       false, false, "relaxed"},
      {"zero 3, recompute, two steps old",
       "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\ntrans layers.* recompute\nuse zero(3, *, data)\n"
       "relax fetch(*) lag 2\n",
       false, false, "relaxed"},
      {"replay apart",
       "devices 2 as data=2\naxis mb=2\nlet L = layers.*\ntrans * batch by mb, data\n"
       "trans L recompute\norder r(L[i])[m] < b(L[i+1])[m]\n"},
      {"zero 3, recompute", "devices 4 as data=2 tensor=2\naxis mb=2\ntrans * batch by mb, data\n" + tensor +
                                "trans layers.* recompute\nuse zero(3, *, data)\n"},
      {"experts", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse ep(layers[*], data)\n", true},
      {"experts, tensor, recompute",
       "devices 4 as data=2 tensor=2\ntrans * batch by data\nuse ep(layers[*], data)\n"
       "trans layers[*].experts ffn by tensor\ntrans layers[*] recompute\n",
       true},
      {"experts of all tokens", "devices 2 as tensor=2\nuse ep(layers[*], tensor)\n", true},
      {"experts one after the other",
       "devices 2 as data=2\naxis e=2\ntrans * batch by data\ntrans layers[*].experts expert by e\n", true},
      {"experts, pipeline",
       "devices 4 as pipe=2 data=2\naxis mb=2\ntrans * batch by mb, data\nuse ep(layers[*], data)\n"
       "let S = cut layers[*] into |pipe|\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
       true},
      {"ring", "devices 4 as cp=4\naxis ring=4\ntrans * seq by cp\n" + keys + "by ring at (ring + cp) % 4\n", false,
       true},
      {"ring, heads, micro-batches",
       "devices 4 as cp=2 tensor=2\naxis mb=2\naxis ring=2\ntrans * batch by mb\ntrans * seq by cp\n" + heads + keys +
           "by ring at (1 + ring + cp) % 2\ntrans layers[*].attn recompute\n",
       false, true},
      {"zigzag",
       "devices 2 as cp=2\naxis half=2\naxis ring=4\ntrans * seq by half, cp at half*(3-cp) + (1-half)*cp\n" + keys +
           "by ring at (ring + cp) % 4\n",
       false, true},
      {"zigzag, heads, micro-batches",
       "devices 4 as cp=2 tensor=2\naxis mb=2\naxis half=2\naxis ring=4\ntrans * batch by mb\n"
       "trans * seq by half, cp at half*(3-cp) + (1-half)*cp\n" +
           heads + keys + "by ring at (1 + ring + cp) % 4\n",
       false, true},
      {"token slices",
       "devices 2 as pipe=2\naxis mb=2\naxis tok=4\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb\n"
       "trans layers[*] seq by tok\nassign S[i] to pipe=i\nuse gpipe(S)\n",
       false, true},
      {"token slices, heads, recompute",
       "devices 2 as tensor=2\naxis tok=2\ntrans layers[*] seq by tok\n" + heads + "trans layers[*].attn recompute\n",
       false, true},
      {"a feed-forward in slices behind an attention", "devices 1\naxis c=2\ntrans layers[1].mlp seq by c\n", false,
       true},
      {"keys in blocks", "devices 1\naxis part=4\n" + keys + "by part at 3 - part\n", false, true},
  };
}

inline Result<Materialized> materialized(const NamedPlan& plan, int layers = 4) {
  const auto parsed = plan::parse_plan(plan.text, plan.name);
  if (!parsed.ok()) return parsed.diagnostics;
  PresetRequest request;
  request.devices = 16;
  const Graph graph = plan.experts     ? tiny_experts()
                      : plan.attention ? testing::transformer({.kv_heads = 2, .causal = true})
                                       : tiny_graph(layers);
  return materialize(graph, *parsed.value, *read_cluster("local", request));
}

}  // namespace planscope::tiny
