import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { signedOutRoute } from '../app/signed-out-route.ts'
import { present, textField } from '../parts/search-fields.ts'

const signInRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => present({ next: textField(search['next']) }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const registerRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/register',
  component: lazyRouteComponent(() => import('./register-page.tsx'), 'RegisterPage'),
})

const resetRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/reset',
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
})

const setupRoute = createRoute({
  getParentRoute: () => signedOutRoute,
  path: '/setup',
  validateSearch: (search: Record<string, unknown>) => present({ token: textField(search['token']) }),
  component: lazyRouteComponent(() => import('./setup-page.tsx'), 'SetupPage'),
})

export const signInRoutes = [signInRoute, registerRoute, resetRoute, setupRoute] as const
