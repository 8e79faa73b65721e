import Testing

@testable import Load

@Suite("The command line of roost-load", .timeLimit(.minutes(2)))
struct LoadOptionsTests {
  private func options(_ line: String, _ environment: [String: String] = [:]) throws -> LoadOptions {
    try LoadOptions(line.split(separator: " ").map(String.init), environment: environment)
  }

  @Test func `every option is taken`() throws {
    let options = try options(
      "--url wss://roost.example --key k --secret s --insecure --media 192.0.2.1:7882 --room r --identity i --rooms 2 "
        + "--publishers 3 --subscribers 20 --mesh --video 1.5M --audio --nack off --feedback on "
        + "--duration 30 --join-rate 5 --join-timeout 7 --settle 3 --json --quiet")
    var wanted = LoadOptions()
    wanted.url = "wss://roost.example"
    (wanted.apiKey, wanted.secret, wanted.checksCertificate) = ("k", "s", false)
    (wanted.media, wanted.names.room, wanted.rooms) = ("192.0.2.1:7882", "r", 2)
    (wanted.publishers, wanted.subscribers, wanted.isMesh) = (3, 20, true)
    (wanted.picture.bitrate, wanted.hasAudio, wanted.feedback.asksForLost) = (1_500_000, true, false)
    wanted.names.identity = "i"
    wanted.feedback.tellsArrivals = true
    (wanted.duration, wanted.joining.rate, wanted.joining.timeout, wanted.feedback.settle) = (30, 5, 7, 3)
    (wanted.output.printsJSON, wanted.output.isQuiet) = (true, true)
    #expect(options == wanted)
    #expect(options.participantCount == 46)
    #expect(options.tracksOfPublisher == 2)
  }

  @Test func `files are played to those who watch, and to nothing that counts`() throws {
    let files = try options("--subscribers 0 --video-files a.ivf,b.ivf,c.ivf --publishers 8")
    #expect(files.picture.files == ["a.ivf", "b.ivf", "c.ivf"] && files.picture.isSent && !files.hasAudio)
    for line in [
      "--video-files a.ivf", "--subscribers 0 --video-files a,b,c,d", "--subscribers 0 --video-files a,",
      "--subscribers 0 --mesh --video-files a", "--subscribers 0 --video 1M --video-files a",
      "--subscribers 0 --video-files",
    ] {
      #expect(throws: LoadUsageError.self, "\(line)") { try options(line) }
    }
  }

  @Test func `encodings are of pictures that are made up, which are counted`() throws {
    let three = try options("--layers 3 --subscribers 50 --feedback on")
    #expect(three.picture.encodings == 3 && three.picture.bitrate == 1_500_000 && !three.hasAudio)
    #expect(three.unit == "pictures" && three.tracksOfPublisher == 1)
    let one = try options("--layers 1")
    #expect(one.hasAudio && one.unit == "packets")
    for more in [
      "--audio", "--video 1M --audio", "--real", "--whip", "--whep", "--subscribers 0 --video-files a",
    ] {
      #expect(
        #expect(throws: LoadUsageError.self) { try options("--layers 2 " + more) }?.description
          .contains("--layers counts") == true, "\(more)")
    }
    #expect(throws: LoadUsageError.self) { try options("--layers 4") }
  }

  @Test func `real media is pictures and sound of its own`() throws {
    let real = try options("--real --publishers 2 --subscribers 6 --duration 30 --picture out.svg")
    #expect(real.picture.isReal && real.picture.isSent && real.hasAudio && real.tracksOfPublisher == 2)
    #expect(real.output.chart == "out.svg" && real.picture.bitrate == 0)
    for more in ["--video 1M", "--audio", "--others 1", "--subscribers 0 --video-files a.ivf"] {
      #expect(
        #expect(throws: LoadUsageError.self) { try options("--real " + more) }?.description
          .contains("--real sends") == true, "\(more)")
    }
  }

  @Test func `doors are chosen for publishers and subscribers apart`() throws {
    let whip = try options("--whip --audio").joining
    #expect(whip.publishesByWHIP && !whip.subscribesByWHEP)
    let both = try options("--real --whep --whip").joining
    #expect(both.publishesByWHIP && both.subscribesByWHEP)
    for more in ["--mesh", "--others 1", "--subscribers 0 --video-files a.ivf"] {
      #expect(throws: LoadUsageError.self, "\(more)") { try options("--whip " + more) }
    }
  }

  @Test func `without an option for media both audio and video are sent`() throws {
    let both = try options("--rooms 1")
    #expect(both.hasAudio && both.picture.bitrate == 1_500_000)
    let audio = try options("--audio")
    #expect(audio.hasAudio && audio.picture.bitrate == 0)
    let video = try options("--video 300k")
    #expect(!video.hasAudio && video.picture.bitrate == 300_000)
  }

  @Test func `key and secret may come by the environment, and the command line has the last word`() throws {
    let environment = ["ROOST_LOAD_KEY": "k", "ROOST_LOAD_SECRET": "s"]
    let given = try options("--audio", environment)
    #expect(given.apiKey == "k" && given.secret == "s")
    #expect(try options("--secret t", environment).secret == "t")
  }

  @Test(arguments: [
    ("--video", "--video needs a value"), ("--video 29k", "from 30k to 50M"),
    ("--video 1.5X", "from 30k to 50M"),
    ("--video nan", "from 30k to 50M"), ("--video infM", "from 30k to 50M"), ("--rooms 0", "from 1 to 1000"),
    ("--rooms 99999999999999999999", "from 1 to 1000"), ("--duration -1", "from 1 to 3600"),
    ("--nack maybe", "--nack is on or off"), ("--feedback", "needs a value"),
    ("--feedback 1", "--feedback is on or off"), ("--frobnicate", "unknown option --frobnicate"),
    ("--publishers 0 --subscribers 0", "nothing to do"), ("--rooms 100 --subscribers 50", "run several"),
    ("--publishers 33", "at most 32 slots"),
    ("--room \(String(repeating: "x", count: 101))", "1 to 100 bytes"),
  ])
  func `an option that can't be followed is named in the error`(line: String, word: String) {
    let error = #expect(throws: LoadUsageError.self) { try options(line) }
    #expect(error?.description.contains(word) == true && error?.isHelp == false)
  }

  @Test func `publishers that receive nothing may be many`() throws {
    #expect(try options("--publishers 200 --subscribers 0 --audio").publishers == 200)
  }

  @Test func `help is asked for`() {
    #expect(#expect(throws: LoadUsageError.self) { try options("--rooms 2 --help") }?.isHelp == true)
  }

  @Test(arguments: [
    ("192.0.2.1:7882", "192.0.2.1", 7882), ("[2001:db8::1]:99", "2001:db8::1", 99),
  ]) func `media's address is split at its last colon`(text: String, address: String, port: Int) {
    var options = LoadOptions()
    options.media = text
    #expect(options.mediaAddress?.address == address && options.mediaAddress?.port == port)
  }

  @Test(arguments: [(30_000, 1, 125), (64_000, 1, 266), (1_500_000, 6, 1_041), (50_000_000, 190, 1_096)])
  func `a bitrate becomes frames of packets`(bitrate: Int, packets: Int, size: Int) {
    let shape = VideoShape(bitrate: bitrate)
    #expect(shape.packets == packets && shape.packetSize == size)
    #expect(shape.packetSize <= LoadOptions.packetBytes)
  }
}
