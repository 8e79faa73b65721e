public import Engine
public import HTTPServer
public import Rooms
public import Storage

/// The operator's door, on a listener of its own: metrics and health. It asks for no token and is therefore for
/// addresses that the public does not reach.
public struct AdminDoor: HTTPHandler {
  private let rooms: RoomDirectory
  private let engine: MediaEngine
  private let server: HTTPServer
  private let store: Store
  private let journal: StoredJournal
  private let webhooks: Webhooks?
  private let calls: CallRooms?
  private let version: String
  private let started: Double
  private let isLocalOnly: Bool

  /// - Parameters:
  ///   - server: the public one, which is reported on.
  ///   - webhooks: nil: there are none.
  ///   - calls: nil: there are none.
  ///   - started: seconds since 1970.
  ///   - isLocalOnly: listens on this machine alone, so that only names of this machine are served: a web page
  ///     could have pointed another one here (DNS rebinding).
  public init(
    rooms: RoomDirectory, store: Store, journal: StoredJournal, engine: MediaEngine, server: HTTPServer,
    webhooks: Webhooks? = nil, calls: CallRooms? = nil, version: String,
    started: Double, isLocalOnly: Bool
  ) {
    self.webhooks = webhooks
    self.calls = calls
    self.rooms = rooms
    self.store = store
    self.journal = journal
    self.engine = engine
    self.server = server
    self.version = version
    self.started = started
    self.isLocalOnly = isLocalOnly
  }

  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    if isLocalOnly, !DevelopmentDoor.isLocal(authority: request.headers["host"] ?? "") {
      return Problem.response(421, "host", "This listener serves this machine's own names only")
    }
    switch request.path {
    case "/healthz", "/readyz": return await Health.response(to: request) { await rooms.isReady() }
    case "/metrics":
      guard request.method == .get || request.method == .head else {
        return Problem.method(allowed: "GET, HEAD")
      }
      return HTTPResponse(status: 200, type: Exposition.contentType, body: await metrics().utf8)
    default: return Problem.notFound()
    }
  }

  public func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(await respond(to: request)) }

  private func metrics() async -> String {
    // Side by side: what doesn't answer holds up the others no longer than it is waited for.
    async let reports = engine.reports(within: .seconds(1))
    async let http = server.report(within: .seconds(1))
    var exposition = Exposition()
    ProcessMetrics.write(ProcessUsage(), version: version, started: started, to: &exposition)
    RoomMetrics.write(
      rooms.counts, kept: rooms.events.size, isDraining: rooms.isDraining, to: &exposition)
    StoreMetrics.write(store.report, journal: journal.report, to: &exposition)
    WebhookMetrics.write(
      await webhooks?.reports() ?? [], held: webhooks?.held ?? (0, 0), to: &exposition)
    if let calls {
      let pushes = await calls.pushReports()
      CallMetrics.write(calls.counts, pushes.reports, lost: pushes.lost, to: &exposition)
    }
    FlightMetrics.write(rooms.flightCounts, to: &exposition)
    RecordingMetrics.write(rooms.recordingCounts, to: &exposition)
    WorkerMetrics.write(await reports, to: &exposition)
    if let http = await http { HTTPMetrics.write(http, to: &exposition) }
    return exposition.text
  }
}
