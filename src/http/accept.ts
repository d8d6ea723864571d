/** Whether a person is looking: browsers say text/html when they navigate, programs seldom do. */
export function wantsPage(request: Request): boolean {
  return (request.headers.get('accept') ?? '').toLowerCase().includes('text/html')
}
