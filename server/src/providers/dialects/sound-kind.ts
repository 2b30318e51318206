/** What kind of sound a file holds, told by how it begins: whoever sends it may call it anything. */
export interface SoundKind {
  /** Media type. */
  readonly type: string
  /** The usual ending of its name. */
  readonly format: string
}

const WAV: SoundKind = { type: 'audio/wav', format: 'wav' }
const MP3: SoundKind = { type: 'audio/mpeg', format: 'mp3' }
const AAC: SoundKind = { type: 'audio/aac', format: 'aac' }

const BEGINNINGS: readonly (readonly [RegExp, SoundKind])[] = [
  [/^(?:RIFF|RF64)/, WAV],
  [/^ID3/, MP3],
  [/^fLaC/, { type: 'audio/flac', format: 'flac' }],
  [/^OggS/, { type: 'audio/ogg', format: 'ogg' }],
  [/^#!AMR/, { type: 'audio/amr', format: 'amr' }],
  // Matroska and WebM: a control character stands before these.
  [/^.E\u00df\u00a3/s, { type: 'audio/webm', format: 'webm' }],
  [/^.{4}(?:ftyp|moov|mdat|wide|free|skip|pnot)/s, { type: 'audio/mp4', format: 'm4a' }],
  // A frame of MPEG's begins with eleven bits; AAC has two more that are no layer.
  [/^\u00ff[\u00f0\u00f1\u00f8\u00f9]/, AAC],
  [/^\u00ff[\u00e0-\u00ff]/, MP3],
]

/** undefined: nobody here knows it. */
export function soundKindOf(bytes: Uint8Array): SoundKind | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, 12))
  return BEGINNINGS.find(([pattern]) => pattern.test(beginning))?.[1]
}
