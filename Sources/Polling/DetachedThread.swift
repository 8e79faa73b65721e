internal import Glibc

/// A thread that runs one closure and ends.
package enum DetachedThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// - Returns: 0, or the system's error number where there is no thread.
  package static func start(_ run: @escaping @Sendable () -> Void) -> Int32 {
    let context = Unmanaged.passRetained(Body(run))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      return status
    }
    pthread_detach(thread)
    return 0
  }
}
