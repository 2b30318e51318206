import { besideMain } from '../dialects/messages.ts'

/** The path of multimodal models, in the vendor's own form. */
export const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation'
/** The path of older image models: it creates a task, which is polled by its id. */
export const IMAGE_TASKS = '/api/v1/services/aigc/text2image/image-synthesis'

/** A path of the vendor's own API, next to the compatible one. */
export function ofApi(baseUrl: string, path: string): string {
  return besideMain(baseUrl, { main: '/compatible-mode/v1', messages: path })
}
