/// What carries pushes to one push service.
protocol PushPlatform: Sendable {
  /// Tries once; returns in bounded time.
  func push(_ job: PushJob) async -> PushResult
  /// Keeps ready what a push needs, until the task is cancelled.
  func stayReady() async
  /// Gives up what is under way.
  func stop()
}
