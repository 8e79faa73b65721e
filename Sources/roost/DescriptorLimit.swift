internal import Glibc

/// How many descriptors the process may have. A connection takes one, over TLS three, and a shell gives 1,024 at first: beyond, recordings
/// can't open their files.
enum DescriptorLimit {
  /// As many as the system allows without being asked.
  static func raise() {
    var limit = rlimit()
    let name = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(name, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(name, &limit)
  }
}
