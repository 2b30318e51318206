import { below } from '../provider.ts'
import type { VideoResult } from '../video.ts'
import { originOf } from '../video-forms/json.ts'
import { defaultBaseUrl } from './address.ts'

/** Files are kept for two days. */
const LINK_MS = 48 * 3_600_000

/** The key goes to the API's own address only; if that is an operator's proxy, the file is fetched through it. */
export function fileResult(uri: string, baseUrl: string): VideoResult {
  const url = uri.startsWith(`${defaultBaseUrl}/`) ? below(baseUrl, uri.slice(defaultBaseUrl.length)) : uri
  if (originOf(url) !== originOf(baseUrl)) return { kind: 'link', url, lastsMs: LINK_MS }
  return { kind: 'download', request: { method: 'GET', url, headers: {} } }
}
