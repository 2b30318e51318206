import type { Provider } from '../provider.ts'
import { viduVideo } from './video.ts'

/** International address; the mainland one is `https://api.vidu.cn/ent/v2`. */
export const vidu: Provider = {
  kind: 'vidu',
  name: 'Vidu',
  defaultBaseUrl: 'https://api.vidu.com/ent/v2',
  publicFields: [],
  dialects: {},
  video: viduVideo,
}
