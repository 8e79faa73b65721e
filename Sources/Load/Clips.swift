internal import Glibc
internal import SyntheticPeers

/// The files that publishers play.
enum Clips {
  /// - Parameter names: one for each layer, the largest first.
  /// - Throws: for a file that can't be read or played, and where the layers don't go together.
  static func read(_ names: [String]) throws(LoadError) -> [RecordedVideo] {
    var clips: [RecordedVideo] = []
    for name in names {
      let bytes = try read(name)
      do throws(RecordedVideo.Problem) {
        clips.append(try RecordedVideo(ivf: bytes))
      } catch { throw LoadError("\(name) can't be played: \(words(error))") }
    }
    guard Set(clips.map(\.interval)).count <= 1 else {
      throw LoadError(
        "the files of --video-files differ in their pictures a second; layers of one camera have the same")
    }
    guard zip(clips, clips.dropFirst()).allSatisfy({ $0.width >= $1.width }) else {
      throw LoadError("--video-files begins with the largest picture")
    }
    return clips
  }

  private static func read(_ name: String) throws(LoadError) -> [UInt8] {
    guard let file = fopen(name, "rb") else { throw .system("can't open \(name)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= RecordedVideo.byteLimit {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    guard ferror(file) == 0 else { throw .system("can't read \(name)") }
    return bytes
  }

  private static func words(_ problem: RecordedVideo.Problem) -> String {
    switch problem {
    case .notIVF: "it isn't an IVF file (ffmpeg -i INPUT -c:v libvpx -f ivf FILE makes one)"
    case .notVP8: "its codec isn't VP8"
    case .truncated: "it ends within a picture, or has none"
    case .tooLarge: "it is larger than \(RecordedVideo.byteLimit >> 20) MiB"
    case .beginsWithoutKeyFrame: "its first picture is no key frame"
    }
  }
}
