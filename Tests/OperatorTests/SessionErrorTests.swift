import Client
import HTTPClient
import Model
import Recording
import Signalling
import Testing
import WebSocketClient

@testable import Operator

@Suite("Errors of commands that are in a room", .timeLimit(.minutes(1)))
struct SessionErrorTests {
  private func text(_ error: ClientError, signs: Bool = true) -> String {
    OperatorError(error, file: "clip.ivf", url: "http://x").text(Advice(signs: signs, room: "demo"))
  }
  private func code(_ error: ClientError) -> Int32 {
    OperatorError(error, file: "clip.ivf", url: "http://x").exitCode
  }

  @Test(
    arguments: [
      (.tokenSignature, 4), (.tokenNotForThis, 4), (.notAllowed, 4), (.roomNotFound, 5), (.roomFull, 7),
      (.rateLimited, 7), (.unavailable, 7), (.offerRefused, 6),
    ] as [(SignallingErrorCode, Int32)])
  func `what the server refuses has the code that REST's refusal of it has`(
    _ refused: SignallingErrorCode, code: Int32
  ) {
    #expect(self.code(.refused(refused, message: "no")) == code)
    #expect(text(.refused(refused, message: "no")).hasPrefix("roost: no ("))
  }

  @Test func `a refusal before the upgrade is the problem that it is`() {
    let body = #"{"type":"urn:roost:problem:token-expired","title":"The token has expired","status":401}"#
    let error = ClientError.unreachable(.refused(status: 401, body: body))
    #expect(code(error) == 4)
    #expect(
      text(error, signs: false).contains("The token has expired (401)\n  Make another by `roost token`"))
    #expect(code(.unreachable(.refused(status: 502, body: "<html>"))) == 3)
    #expect(code(.unreachable(.connection("refused"))) == 3 && code(.unreachable(.timeout)) == 3)
    #expect(text(.unreachable(.certificate("self-signed"))).contains("--ca FILE"))
  }

  @Test func `files and folders say what is wrong and what helps`() {
    #expect(text(.file(.unknownFormat)).contains("clip.ivf: this is neither IVF nor Ogg"))
    #expect(text(.file(.unknownFormat)).contains("ffmpeg -i FILE"))
    #expect(text(.file(.noTrack(others: ["H265"]))).contains("nothing in it can be sent; it has H265"))
    #expect(
      text(.folder("take", FileProblem(17))).contains("take: File exists\n  There is a recording already"))
    #expect(code(.file(.empty)) == 1 && code(.folder("take", FileProblem(28))) == 1)
    let full = OperatorError.session(.recordingEnded("take", .diskFull))
    #expect(full.exitCode == 1 && full.title == "take: the disk is full")
  }

  @Test func `what the server doesn't take and what it ends are apart`() {
    #expect(code(.declined(codec: "VP9", word: "codec")) == 6)
    #expect(text(.declined(codec: "VP9", word: "codec")).contains("media.codecs"))
    #expect(code(.declined(codec: "VP9", word: "not-allowed")) == 4)
    #expect(code(.noMedia(seconds: 30)) == 3 && text(.noMedia(seconds: 30)).contains("--media ADDRESS:PORT"))
    let codes = LeaveReason.allCases.map { OperatorError.session(.closed($0)).exitCode }
    #expect(codes == [5, 4, 3, 6, 6, 5, 7])
  }
}
