import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { askAhead } from '../api/ahead.ts'
import { signedOutRoute } from '../app/signed-out-route.ts'
import { present, textField } from '../parts/lists/search-fields.ts'
import { withTexts } from '../texts/languages.ts'
import { optionsQuery } from './options.ts'

const signInRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => present({ next: textField(search['next']) }),
  loader: ({ context: { queryClient } }) => askAhead(queryClient, optionsQuery),
  component: lazyRouteComponent(() => withTexts(() => import('./sign-in-page.tsx'), 'signIn'), 'SignInPage'),
})

const registerRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/register',
  loader: ({ context: { queryClient } }) => askAhead(queryClient, optionsQuery),
  component: lazyRouteComponent(
    () => withTexts(() => import('./register-page.tsx'), 'signIn'),
    'RegisterPage',
  ),
})

const resetRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/reset',
  component: lazyRouteComponent(() => withTexts(() => import('./reset-page.tsx'), 'signIn'), 'ResetPage'),
})

const setupRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/setup',
  validateSearch: (search: Record<string, unknown>) => present({ token: textField(search['token']) }),
  component: lazyRouteComponent(() => withTexts(() => import('./setup-page.tsx'), 'signIn'), 'SetupPage'),
})

export const signInRoutes = [signInRoute, registerRoute, resetRoute, setupRoute] as const
