import type { Provider } from '../provider.ts'
import { runwayVideo } from './video.ts'

/** Videos only: its own models, and other makers' in its own form. */
export const runway: Provider = {
  kind: 'runway',
  name: 'Runway',
  defaultBaseUrl: 'https://api.dev.runwayml.com',
  publicFields: [],
  dialects: {},
  video: runwayVideo,
}
