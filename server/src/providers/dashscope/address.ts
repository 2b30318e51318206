import { besideMain } from '../dialects/messages.ts'

/** Of what models make that take and give more than text, in the vendor's own form. */
export const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation'
/** Of pictures by older models: a task, asked for by its id. */
export const IMAGE_TASKS = '/api/v1/services/aigc/text2image/image-synthesis'

/** A path of the vendor's own API, beside the one that is compatible. */
export function ofApi(baseUrl: string, path: string): string {
  return besideMain(baseUrl, { main: '/compatible-mode/v1', messages: path })
}
