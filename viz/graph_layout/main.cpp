// planscope-layout: reads a graph in the language of Graphviz from descriptor 3 (or, with no argument, from standard input) and writes
// the layout of `dot` as plain text. A process of its own, so that a layout that takes too long, or fails, takes nothing with it.
// Too long is counted in time of the processor, so that the same graph has the same layout beside other work.
#include <graphviz/gvc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int count, char**) {
  constexpr int control = 3;
  constexpr rlimit most_seconds{2, 3};  // it takes some hundredths where nothing is wrong
  ::setrlimit(RLIMIT_CPU, &most_seconds);
  const int from = count > 1 ? control : 0;
  std::string text;
  char buffer[1 << 14];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  Agraph_t* graph = agmemread(text.c_str());
  if (!graph) return 2;
  GVC_t* context = gvContext();
  if (gvLayout(context, graph, "dot") != 0 || gvRender(context, graph, "plain", stdout) != 0) return 1;
  std::fflush(stdout);
  ::_exit(0);  // what is left the system takes back quicker
}
