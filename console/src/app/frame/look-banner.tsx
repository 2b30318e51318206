import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { client, dataOf } from '../../api/client.ts'
import { REFUSED_IN_FRAME } from '../../api/refusal.ts'
import { usePerson } from '../../api/session.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { useFormat } from '../../parts/values/format.ts'
import styles from './look-banner.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Over every page while an operator impersonates an account. */
export function LookBanner({ until }: { readonly until: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const router = useRouter()
  const { id, name, email, phone } = usePerson()
  const end = useMutation({
    mutationFn: () => dataOf(client.POST('/api/v1/user/user/sign-out')),
    // A full reload, so that no data of the account is left. The address is one of the operator's own session.
    onSuccess: () => {
      const own = router.buildLocation({ to: '/operate/accounts', search: { open: id } })
      window.location.assign(own.publicHref)
    },
    meta: REFUSED_IN_FRAME,
  })
  useEffect(() => {
    document.documentElement.toggleAttribute('data-looking', true)
    return () => void document.documentElement.toggleAttribute('data-looking', false)
  }, [])
  return (
    <div className={styles.banner} role="region" aria-label={t('frame.looking')}>
      <Icon name="eye" />
      <span>
        <Marked
          text={t('frame.lookingAs', { name: name ?? email ?? phone ?? id, moment: format.recent(until) })}
        />
      </span>
      <Button size="xs" variant="default" loading={end.isPending} onClick={() => end.mutate()}>
        {t('frame.endLook')}
      </Button>
    </div>
  )
}
