import type { JsonObject } from '../../../core/json.ts'
import { VERSION } from '../../../version.ts'
import { listRoutes } from '../api.ts'
import { buildDocument } from './document.ts'
import type { ApiOptions } from '../api-context.ts'

/** The document of this build, for the reference pages: `options` is only passed to routes that are never called. */
export function describeApi(options: ApiOptions): JsonObject {
  return buildDocument(listRoutes({ ...options, publicUrl: undefined }), {
    version: VERSION,
    serverUrl: undefined,
  })
}
