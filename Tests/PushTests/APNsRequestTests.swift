import HTTPClient
import Model
import Testing

@testable import Push

@Suite("A push as APNs wants it", .timeLimit(.minutes(1)))
struct APNsRequestTests {
  private func request(_ job: PushJob) throws -> HTTPClientRequest {
    APNsRequest.push(
      job, to: try #require(HTTPURL("https://api.push.apple.com")), providerToken: "a.b.c",
      patience: .seconds(5))
  }

  private func headers(_ request: HTTPClientRequest) -> [String: String] {
    Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first + " twice" }
  }

  @Test func `a ring wakes the phone, and is kept until it is over`() throws {
    let request = try request(Sample.job())
    #expect(request.url.description == "https://api.push.apple.com/3/device/\(Sample.token(1))")
    #expect(request.method == .post && request.body.count == 100)
    #expect(request.milliseconds == 5_000 && request.limit == 4_096)
    #expect(
      headers(request) == [
        "authorization": "bearer a.b.c", "apns-id": "id-1", "apns-topic": "com.example.app.voip",
        "apns-push-type": "voip", "apns-priority": "10", "apns-expiration": "1800000030",
      ])
  }

  @Test func `a topic that has the suffix keeps the one`() throws {
    var device = Sample.device()
    device.topic = "com.example.app.voip"
    let job = PushJob(
      id: "i", device: device, ringId: "r", isRing: false, payload: [], expiration: 0, deadline: .never)
    let headers = headers(try request(job))
    #expect(headers["apns-topic"] == "com.example.app.voip" && headers["apns-expiration"] == "0")
  }

  @Test func `an alert is taken back by what comes later`() throws {
    let headers = headers(try request(Sample.job(1, .apnsAlert)))
    #expect(headers["apns-topic"] == "com.example.app" && headers["apns-push-type"] == "alert")
    #expect(headers["apns-collapse-id"] == Sample.ringId && headers["apns-priority"] == "10")
  }

  @Test func `an alert goes to the app itself, also where the device has registered for VoIP pushes`() throws
  {
    var device = Sample.device(1, .apnsAlert)
    device.topic = "com.example.app.voip"
    let job = PushJob(
      id: "i", device: device, ringId: "r", isRing: true, payload: [], expiration: 0, deadline: .never)
    #expect(headers(try request(job))["apns-topic"] == "com.example.app")
  }

  @Test(arguments: [
    "", "zz", "a", "0123456", "../../x", "abcdefg1", "abcd ef01", String(repeating: "a", count: 401),
    "ａｂｃｄｅｆ０１",
    "abcdef01\r\n",
  ])
  func `a token that is none is removed without being sent`(token: String) {
    var device = Sample.device()
    device.token = token
    #expect(APNsRequest.refusal(of: device) == .remove(reason: "BadDeviceToken"))
  }

  @Test(arguments: ["", "a b", "a\r\nb: c", "ü", String(repeating: "a", count: 256)])
  func `a topic that is none is refused without being sent`(topic: String) {
    var device = Sample.device()
    device.topic = topic
    #expect(APNsRequest.refusal(of: device) == .failed(reason: "BadTopic"))
  }

  @Test func `what is as it should be is sent`() {
    var device = Sample.device()
    for token in [Sample.token(1), String(repeating: "A1", count: 100)] {
      device.token = token
      #expect(APNsRequest.refusal(of: device) == nil)
    }
  }

  @Test func `a device is written without its token`() {
    let device = Sample.device()
    #expect("\(device)" == "apns-voip device device-1 of bea")
    #expect(!String(reflecting: device).contains(device.token))
  }
}
