/** Video tasks: the gateway makes these answers itself, whichever vendor makes the video. */
import type { JsonObject } from '../../../../core/json.ts'
import { among, closed, count, described, exactly, flag, list, maybe, named, text, whole } from './words.ts'

const video = closed({
  id: described('`video_` and an opaque rest.', text),
  object: exactly('video'),
  model: text,
  status: among('queued', 'in_progress', 'completed', 'failed'),
  progress: { ...count, maximum: 100 },
  created_at: described('Unix seconds, as all times here.', whole),
  completed_at: maybe(whole),
  expires_at: whole,
  seconds: described('Declared length; what is billed.', text),
  size: text,
  prompt: text,
  url: described('Where the finished video is.', maybe(text)),
  error: maybe(closed({ code: text, message: text })),
  remixed_from_video_id: exactly(null),
})

export const VIDEO_ANSWERS: JsonObject = { Video: described('A video task.', video) }

export const VIDEO = named('Video')
export const VIDEO_LIST = closed({
  object: exactly('list'),
  data: list(VIDEO),
  has_more: flag,
  first_id: maybe(text),
  last_id: maybe(text),
})
export const VIDEO_DELETED = closed({ id: text, object: exactly('video.deleted'), deleted: exactly(true) })
