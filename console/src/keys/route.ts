import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { frameRoute } from '../app/frame-route.ts'
import { choiceField, present, textField } from '../parts/lists/search-fields.ts'
import { withTexts } from '../texts/languages.ts'
import { KEY_STATES } from './key-state.ts'

export const keysRoute = createRoute({
  getParentRoute: () => frameRoute,
  path: '/keys',
  validateSearch: (search: Record<string, unknown>) =>
    present({
      state: choiceField(search['state'], KEY_STATES),
      model: textField(search['model']),
      group: textField(search['group']),
      // The id of the key whose form is open; `new`: a new key.
      key: textField(search['key']),
    }),
  component: lazyRouteComponent(() => withTexts(() => import('./keys-page.tsx'), 'keys'), 'KeysPage'),
})
