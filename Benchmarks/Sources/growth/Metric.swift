/// What one process finds out. The raw value stands in the JSON of both the process and the report.
enum Metric: String, CaseIterable {
    case launch = "launchMilliseconds"
    case firstRead = "firstReadMicroseconds"
    /// Opens the catalog.
    case firstStatistics = "firstStatisticsMilliseconds"
    /// After launch, first read and first statistics.
    case resident = "residentMebibytes"
    case statistics = "statisticsMicroseconds"
    case items = "itemsMilliseconds"
    /// With the answer of `items()` in memory.
    case residentWithItems = "residentWithItemsMebibytes"

    case storeMedian = "storeMedianMicroseconds"
    case storeP99 = "storeP99Microseconds"
    /// With what is written behind.
    case storeRate = "storesPerSecond"
    case flush = "flushMilliseconds"
    /// The same content by system calls alone, in the same folders.
    case floorMedian = "floorStoreMedianMicroseconds"
    case storeToFloor = "storeToFloor"

    case evict = "evictMicrosecondsPerItem"
    /// The same under the policy `value`, in the same process, and in relation to it.
    case evictByValue = "evictByValueMicrosecondsPerItem"
    case valueToLRU = "evictByValueToEvict"

    case readAfterCrash = "firstReadAfterCrashMicroseconds"
    /// Opens the catalog, which looks for what the dead process left.
    case statisticsAfterCrash = "firstStatisticsAfterCrashMilliseconds"
}

/// What a process was started for.
enum Errand: String, CaseIterable {
    /// Launch, first read, memory, statistics and list.
    case launch
    case store
    case evict
    /// Stores items and dies before they are recorded.
    case crash
    /// The first launch after that.
    case recover
}

typealias Readings = [String: Double]
