import type { Provider } from '../provider.ts'
import { jimengImages } from './images.ts'
import { jimengVideo } from './video.ts'

/** ByteDance's Jimeng over Volcengine's visual API; its key is a pair, in the fields `access_key` and `secret_key`. */
export const jimeng: Provider = {
  kind: 'jimeng',
  name: 'Jimeng (Volcengine Visual)',
  defaultBaseUrl: 'https://visual.volcengineapi.com',
  publicFields: [],
  dialects: { images: jimengImages },
  video: jimengVideo,
}
