internal import CSystem
internal import Glibc

/// What the process uses of its machine, as the kernel counts it.
public struct ProcessUsage: Sendable {
  /// Processor time of all threads, in seconds.
  public let processorSeconds: Double
  /// Of memory, resident; nil without /proc.
  public let residentBytes: Int?
  /// Open descriptors; nil without /proc.
  public let descriptors: Int?
  /// How many there may be.
  public let descriptorLimit: Int

  public init() {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    processorSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    residentBytes = Self.residentPages().map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
    descriptors = Self.countDescriptors()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    descriptorLimit = Int(clamping: limit.rlim_cur)
  }

  /// Of the calling thread: on Linux each has its own.
  public static var niceness: Int { Int(rs_getniceness(0, 0)) }

  /// The second number of `/proc/self/statm` (proc(5)).
  private static func residentPages() -> Int? {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    let fields = String(decoding: bytes[..<count], as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? Int(fields[1]) : nil
  }

  private static func countDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    // The folder itself is open while it is read.
    return max(count - 1, 0)
  }
}
