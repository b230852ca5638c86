#pragma once
// What the operating system says that this process uses. Linux; where it does not tell, memory is 0.
#include "engine/base/units.h"

namespace planscope {

Bytes resident_bytes();       // physical memory of the process, shared and mapped pages included
Bytes peak_resident_bytes();  // the most since the last reset
void reset_peak_resident();

Microseconds processor_time();  // of all threads, user and system
Microseconds thread_time();     // the same of the calling thread

}  // namespace planscope
