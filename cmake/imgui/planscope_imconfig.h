#pragma once
// Configuration of Dear ImGui for every host: 32-bit indices, because one canvas may hold more than 65,535 vertices.
#define ImDrawIdx unsigned int
#define IMGUI_DISABLE_DEMO_WINDOWS
#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
