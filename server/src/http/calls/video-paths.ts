/** Which paths are video calls (contract §4.4), and what each asks for. */
import type { IncomingVideo, VideoAction } from '../../pipeline/video/video-call.ts'
import { FILE_PATH } from '../../pipeline/video/answer/links.ts'

export type VideoPath =
  | { readonly kind: 'video'; readonly action: VideoAction; readonly endpoint: IncomingVideo['endpoint'] }
  | { readonly kind: 'wrong-method'; readonly allow: string }
  | { readonly kind: 'other' }

const PREFIX = '/v1/videos'
const OTHER: VideoPath = { kind: 'other' }

export function matchVideoPath(method: string, path: string, query: string): VideoPath {
  if (path.startsWith(FILE_PATH)) return matchFile(method, path.slice(FILE_PATH.length), query)
  if (path === PREFIX) return matchCollection(method, query)
  if (!path.startsWith(`${PREFIX}/`)) return OTHER
  const [id = '', part, ...rest] = path.slice(PREFIX.length + 1).split('/')
  if (id === '' || rest.length > 0) return OTHER
  if (part === 'content') return matchContent(method, id, query)
  return part === undefined ? matchTask(method, id) : OTHER
}

function matchCollection(method: string, query: string): VideoPath {
  if (method === 'POST') return video(PREFIX, { kind: 'create' })
  if (isRead(method)) return video(PREFIX, { kind: 'list', query: new URLSearchParams(query) })
  return { kind: 'wrong-method', allow: 'GET, POST' }
}

function matchTask(method: string, id: string): VideoPath {
  const path = `${PREFIX}/{video_id}`
  if (isRead(method)) return video(path, { kind: 'read', id })
  if (method === 'DELETE') return video(path, { kind: 'remove', id })
  return { kind: 'wrong-method', allow: 'GET, DELETE' }
}

function matchContent(method: string, id: string, query: string): VideoPath {
  if (!isRead(method)) return { kind: 'wrong-method', allow: 'GET, HEAD' }
  return video(`${PREFIX}/{video_id}/content`, {
    kind: 'content',
    id,
    query: new URLSearchParams(query),
    body: bodyOf(method),
  })
}

/** Keys of stored bytes, as they stand in links of ours: nothing else is looked for. */
const FILE_KEY = /^[a-z]+\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

function matchFile(method: string, key: string, query: string): VideoPath {
  if (!FILE_KEY.test(key)) return OTHER
  if (!isRead(method)) return { kind: 'wrong-method', allow: 'GET, HEAD' }
  return video(`${FILE_PATH}{file}`, {
    kind: 'file',
    key,
    query: new URLSearchParams(query),
    body: bodyOf(method),
  })
}

function video(path: string, action: VideoAction): VideoPath {
  return { kind: 'video', action, endpoint: { path, protocol: 'video' } }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function bodyOf(method: string): 'wanted' | 'head-only' {
  return method === 'HEAD' ? 'head-only' : 'wanted'
}
