internal import Glibc
internal import Polling

/// A thread that runs one closure and ends.
enum LoadThread {
  static func start(_ run: @escaping @Sendable () -> Void) throws(LoadError) {
    let status = DetachedThread.start(run)
    guard status == 0 else { throw LoadError("no thread: \(String(cString: strerror(status)))") }
  }
}
