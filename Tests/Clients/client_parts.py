"""What tests of clients share: how they are built, what they are given, and what is in the files that they keep."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".build-python/bin/python"
PITCH = 440
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
# How files of the same pictures are made, by the codec.
FILES = {"VP8": ["-c:v", "libvpx", "-g", "30", "-b:v", "300k", "pictures.ivf"],
         "VP9": ["-c:v", "libvpx-vp9", "-g", "30", "-b:v", "300k", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0",
                 "pictures.ivf"],
         "H264": ["-c:v", "libx264", "-profile:v", "baseline", "-level", "3.1", "-g", "30", "-bf", "0", "-threads", "1", "-tune",
                  "zerolatency", "-bsf:v", "h264_mp4toannexb", "-f", "h264", "pictures.h264"]}


def go_build(folder, source):
    """Builds a program with Debian's Go libraries, as docs/clients.md says."""
    place = folder / "go/src/client"
    place.mkdir(parents=True)
    (place / "go.mod").write_text("module client\n")
    (place / "client.go").write_text(source)
    environment = os.environ | {"GO111MODULE": "off", "GOPATH": f"{folder}/go:/usr/share/gocode", "GOFLAGS": "",
                                "CGO_ENABLED": "0",
                                "GOCACHE": str(ROOT / ".build-go")}
    subprocess.run(["go", "vet"], cwd=place, env=environment, check=True, timeout=300)
    subprocess.run(["go", "build", "-o", folder / "client"], cwd=place, env=environment, check=True, timeout=300)


def pictures(path):
    """How many pictures ffmpeg decodes of a file, and the brightness in the middle of the last."""
    # None twice, to fill a gap.
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-vf", "scale=64:48,format=gray", "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
                          capture_output=True, timeout=30)
    frames = [done.stdout[at:at + 64 * 48] for at in range(0, len(done.stdout), 64 * 48)]
    return len(frames), frames[-1][64 * 24 + 32] if frames else None


def pitch(path):
    """Hertz of the tone in a file, by its zero crossings after the first half second."""
    done = subprocess.run([*FFMPEG, "-i", path, "-ss", "0.5", "-ac", "1", "-ar", "48000", "-f", "s16le", "-"],
                          capture_output=True, timeout=30)
    values = [value for value in memoryview(done.stdout[:len(done.stdout) // 2 * 2]).cast("h") if abs(value) > 200]
    if len(values) < 4_800:
        return 0
    crossings = sum((a > 0) != (b > 0) for a, b in zip(values, values[1:]))
    loud = 1 - 2 / 3.14159 * 200 / max(map(abs, values))
    return round(crossings / 2 / (len(values) / loud / 48_000))


def picture_file(folder, codec, seconds):
    """A file of pictures, 30 a second, made once."""
    place = folder / f"source-{codec}"
    if not place.exists():
        place.mkdir()
        subprocess.run([*FFMPEG, "-f", "lavfi", "-i", f"testsrc=size=320x240:rate=30:duration={seconds}", "-pix_fmt", "yuv420p",
                        *FILES[codec]], cwd=place, check=True, timeout=60)
    return place / FILES[codec][-1]


def tone_file(folder, seconds):
    """A file of a tone."""
    path = folder / "tone.ogg"
    subprocess.run([*FFMPEG, "-f", "lavfi", "-i", f"sine=frequency={PITCH}:duration={seconds}:sample_rate=48000",
                    "-c:a", "libopus", "-page_duration", "20000", path], check=True, timeout=60)
    return path
