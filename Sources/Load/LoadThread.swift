internal import Glibc

/// A thread that runs one closure and ends.
enum LoadThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func start(_ run: @escaping @Sendable () -> Void) throws(LoadError) {
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
      throw LoadError("no thread: \(String(cString: strerror(status)))")
    }
    pthread_detach(thread)
  }
}
