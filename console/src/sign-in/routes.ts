import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { doorRoute } from '../app/door-route.ts'
import { present, textField } from '../parts/search-fields.ts'

const signInRoute = createRoute({
  getParentRoute: () => doorRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => present({ next: textField(search['next']) }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const registerRoute = createRoute({
  getParentRoute: () => doorRoute,
  path: '/register',
  component: lazyRouteComponent(() => import('./register-page.tsx'), 'RegisterPage'),
})

const resetRoute = createRoute({
  getParentRoute: () => doorRoute,
  path: '/reset',
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
})

const setupRoute = createRoute({
  getParentRoute: () => doorRoute,
  path: '/setup',
  validateSearch: (search: Record<string, unknown>) => present({ token: textField(search['token']) }),
  component: lazyRouteComponent(() => import('./setup-page.tsx'), 'SetupPage'),
})

export const signInRoutes = [signInRoute, registerRoute, resetRoute, setupRoute] as const
