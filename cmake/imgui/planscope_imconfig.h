#pragma once
// Configuration of Dear ImGui for every host: 32-bit indices, because one canvas may hold more than 65,535 vertices; and no SSE,
// whose approximate reciprocal square root moves the ends of lines by parts of a pixel, so that a picture of the desktop was not
// that of the WebAssembly module.
#define ImDrawIdx unsigned int
#define IMGUI_DISABLE_SSE
#define IMGUI_DISABLE_DEMO_WINDOWS
#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
