const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const SEGMENTS_MAX = 8

/**
 * The segments of a blob's key, such as `videos/video_1.mp4`. Keys are made by us; one that is not of this form is a
 * mistake in the program. A segment begins with a letter or a digit, so no key leaves its directory, and what a store
 * keeps beside the blobs begins with something else.
 */
export function segmentsOf(key: string): readonly string[] {
  const segments = key.split('/')
  if (segments.length > SEGMENTS_MAX || !segments.every((segment) => SEGMENT.test(segment))) {
    throw new Error(`${JSON.stringify(key)} is no key of a blob`)
  }
  return segments
}
