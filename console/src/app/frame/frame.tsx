import { useDisclosure, useHotkeys, useLocalStorage } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { Suspense, useEffect, useState } from 'react'
import { client, dataOf } from '../../api/client.ts'
import { useConnection } from '../../api/connection.ts'
import { REFUSED_IN_FRAME, useRefusal } from '../../api/refusal.ts'
import { usePerson } from '../../api/session.ts'
import { late } from '../../parts/page/late.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { TimeZone } from '../../parts/values/format.ts'
import {
  chooseLanguage,
  hasChosenLanguage,
  isLanguage,
  type Language,
  withTexts,
} from '../../texts/languages.ts'
import { BottomBar } from './bottom-bar.tsx'
import styles from './frame.module.css'
import { RefusalNotice } from './refusal-notice.tsx'
import { SideBar } from './side-bar.tsx'
import { TopBar } from './top-bar.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const Palette = late(async () => (await import('./palette.tsx')).Palette)

const LookBanner = late(async () => (await import('./look-banner.tsx')).LookBanner)

const SessionEnded = late(
  async () => (await withTexts(() => import('./session-ended.tsx'), 'signIn')).SessionEnded,
)

/** The bars around every page. */
export function Frame() {
  const { t } = useTranslation()
  const person = usePerson()
  const connection = useConnection()
  const refusal = useRefusal()
  const ended = connection === 'session-ended' || connection === 'session-stale'
  const [searching, search] = useDisclosure(false)
  const [narrow, setNarrow] = useLocalStorage({ key: 'sluice-narrow-bar', defaultValue: false })
  const keepLanguage = useKeepLanguage(person)
  useAccountLanguage(person.language)
  useOnePerson(person.id)
  useHotkeys([
    ['/', search.open],
    ['mod+K', search.open],
  ])
  return (
    <TimeZone.Provider value={person.time_zone ?? undefined}>
      <a href="#page" className={styles.skip}>
        {t('frame.skip')}
      </a>
      <div className={styles.frame} data-narrow={narrow || undefined}>
        <SideBar narrow={narrow} onNarrow={setNarrow} />
        <div className={styles.body}>
          <TopBar onSearch={search.open} onLanguage={keepLanguage} />
          {person.impersonation !== null && (
            <Suspense>
              <LookBanner until={person.impersonation.ends_at} />
            </Suspense>
          )}
          <main id="page" tabIndex={-1} className={styles.page}>
            <Outlet />
          </main>
        </div>
      </div>
      <BottomBar />
      {refusal !== undefined && <RefusalNotice key={refusal.id} error={refusal.error} />}
      {ended && (
        <Suspense>
          <SessionEnded />
        </Suspense>
      )}
      {searching && (
        <Suspense>
          <Palette onClose={search.close} />
        </Suspense>
      )}
    </TimeZone.Provider>
  )
}

/** Stores a chosen language in the account; that of an impersonated one is not changed. */
function useKeepLanguage({ impersonation }: ReturnType<typeof usePerson>): (language: Language) => void {
  const { mutate } = useMutation({
    mutationFn: (language: Language) =>
      dataOf(client.PATCH('/api/v1/user/user/account', { body: { language } })),
    meta: REFUSED_IN_FRAME,
  })
  return (language) => {
    if (impersonation === null) mutate(language)
  }
}

/** Reloads when another tab has signed in as somebody else. */
function useOnePerson(id: string): void {
  const [first] = useState(id)
  useEffect(() => {
    if (id !== first) window.location.reload()
  }, [id, first])
}

/** The account's language, until another one is chosen in this browser. */
function useAccountLanguage(language: string | null): void {
  useEffect(() => {
    if (language !== null && isLanguage(language) && !hasChosenLanguage())
      inBackground(chooseLanguage(language))
  }, [language])
}
