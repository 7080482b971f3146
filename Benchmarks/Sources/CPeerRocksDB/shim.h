#pragma once
#include <rocksdb/c.h>
