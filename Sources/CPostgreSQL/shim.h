#pragma once
// No logic lives here.
#include <poll.h>
#include <postgresql/libpq-fe.h>
