/**
 * Names that models of various makers use for a length or a number of videos. If a vendor passes orders on to all of
 * them, only the gateway's seconds may set the length, because they are billed.
 */
export const OTHER_LENGTHS: readonly string[] = [
  'frames',
  'max_frames',
  'num_frames',
  'num_seconds',
  'video_length',
  'video_duration',
  'num_outputs',
  'num_videos',
  'number_of_videos',
]
