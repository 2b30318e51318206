import type { EndpointKind, EndpointPath } from './kind.ts'

/** Below the main address: signed links to stored bytes. */
export const FILE_PATH = '/media/'

/** Keys of stored bytes, as written in the gateway's links: nothing else is looked up. */
const FILE_KEY = /[a-z]+\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}/

/** Videos: ordered, read, downloaded, deleted (docs/reference/contract.md#4.4). */
export const VIDEO: EndpointKind = {
  id: 'video',
  flow: 'task',
  chains: ['video'],
  paths: [
    { ...at('/v1/videos', 'list'), methods: ['GET'], head: true },
    { ...at('/v1/videos', 'create'), methods: ['POST'] },
    { ...at('/v1/videos/{video_id}', 'read'), methods: ['GET'], head: true },
    { ...at('/v1/videos/{video_id}', 'remove'), methods: ['DELETE'] },
    { ...at('/v1/videos/{video_id}/content', 'content'), methods: ['GET', 'HEAD'] },
    { ...at(`${FILE_PATH}{file}`, 'file'), methods: ['GET', 'HEAD'], values: { file: FILE_KEY } },
  ],
  counts: ({ videoSeconds }) => ({ requests: 1, images: 0, videos: 1, videoSeconds }),
}

function at(path: string, action: string): Omit<EndpointPath, 'methods'> {
  return { path, action, protocol: 'video' }
}
