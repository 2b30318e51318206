/**
 * Names under which models of many makers take a length or a number of videos. Where a vendor passes orders on to all of
 * them, the gateway's seconds are the only length: they are what is billed.
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
