#pragma once
// Swift imports all of wslay by itself; this header only names it. No logic lives here.
#include <sys/types.h>
#include <wslay/wslay.h>
