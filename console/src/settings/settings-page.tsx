import { Tabs } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useMayManage, useOrganisationId } from '../api/session.ts'
import { choiceField, present } from '../parts/lists/search-fields.ts'
import { Empty } from '../parts/page/empty.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { late } from '../parts/page/late.ts'
import { PageHead } from '../parts/page/page-head.tsx'
import { ACCOUNT_TABS, TABS } from './search.ts'
import styles from './settings.module.css'
import { useTranslation } from '../texts/use-translation.ts'

const PANELS = {
  profile: late(async () => (await import('./profile/profile.tsx')).Profile),
  security: late(async () => (await import('./access/security.tsx')).Security),
  calls: late(async () => (await import('./calls/calls.tsx')).CallSettings),
  alerts: late(async () => (await import('./alerts.tsx')).Alerts),
  verification: late(async () => (await import('./verification/verification.tsx')).Verification),
} as const

const route = getRouteApi('/frame/settings')

export function SettingsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayManage = useMayManage()
  const tabs = useOrganisationId() === undefined ? TABS : ACCOUNT_TABS
  const tab = tabs.find((name) => name === search.tab) ?? tabs[0]
  if (!mayManage) {
    return (
      <>
        <PageHead title={t('pages.settings')} />
        <Empty icon="settings" title={t('settings.notYours')}>
          {t('settings.notYoursHint')}
        </Empty>
      </>
    )
  }
  return (
    <>
      <PageHead title={t('pages.settings')} />
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          inBackground(navigate({ search: present({ tab: choiceField(next, TABS) }), replace: true }))
        }
      >
        <Tabs.List aria-label={t('pages.settings')}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`settings.tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => {
          const Panel = PANELS[name]
          return (
            <Tabs.Panel key={name} value={name} className={styles.panel ?? ''}>
              <Suspense>
                <Panel />
              </Suspense>
            </Tabs.Panel>
          )
        })}
      </Tabs>
    </>
  )
}
