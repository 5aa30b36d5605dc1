/* The passes of a LevT on a CPU, in one call each: embedding, blocks, classifiers. Knows no loop, no text, no files.

   States lie flat and without padding: row i of a batch is the places begin[i] … begin[i + 1], and nothing is computed
   for a row that is not its own, so that its numbers do not depend on its batch. Weights are packed by the caller
   (native_network.py) in panels of 64 outputs, as float [in][64], or as bytes [in / 4][64][4], the order of VPDPBUSD.
   Products of bytes have one scale per row of the input and one per output:

       q = round(127 x / max|x|) + 128,    y = max|x| / 127 · s · (q W₈ − 128 Σ W₈) + b

   and where the input cannot be negative, 255 steps and no 128. */

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE__
#include <immintrin.h>
#endif

#define PANEL 64
#define TILE 6
#define GROUP 96 /* Places that go through the blocks together, in whole rows: what they need stays in the cache. */

typedef struct {
    int32_t in, out;
    const int8_t *bytes;  /* One of the two is there. */
    const float *floats;
    const float *scale;   /* Of bytes, one per output. */
    const int32_t *middle; /* −128 Σ W₈. */
    const float *bias;
} Linear;

typedef struct {
    const float *gain, *bias;
    float eps;
    int32_t here;
} Norm;

typedef struct {
    Linear qkv, out, query, cross_out, into, back;
    Norm self_norm, cross_norm, feed_norm;
} Layer;

typedef struct {
    int32_t width, hidden, heads, pre_norm, activation, positions_here, cross;
    float scale;
    const float *table, *positions;
    Norm embed_norm, norm;
    const Layer *layers;
} Stack;

/* Memory of a thread, which grows and stays until the thread ends. */
static _Thread_local char *kept = NULL;
static _Thread_local size_t kept_bytes = 0;
static pthread_key_t at_the_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_at_the_end(void) { pthread_key_create(&at_the_end, free); }

static float *scratch(size_t bytes) {
    if (bytes > kept_bytes) {
        free(kept);
        kept_bytes = bytes + bytes / 4 + 4096;
        kept = aligned_alloc(64, (kept_bytes + 63) / 64 * 64);
        pthread_once(&once, free_at_the_end);
        pthread_setspecific(at_the_end, kept);
        if (kept == NULL) { kept_bytes = 0; return NULL; }
    }
    return (float *)kept;
}

/* ---- threads: a team does one job at a time, each member its columns, its heads or its rows ---- */

#define TEAM 16
#define PATIENCE 4000 /* Looks before a thread that waits for others lets somebody else have its core. */
#define REST 20000    /* Looks before a member without a job goes to sleep. */

typedef void (*Job)(void *what, int me, int team);

static struct {
    pthread_mutex_t busy, door;
    pthread_cond_t work;
    atomic_int number, done, arrived, turn;
    int members, team;
    int since[TEAM]; /* The job that was the last before a member came: it must not take an old one for a new one. */
    Job job;
    void *what;
} crew = {.busy = PTHREAD_MUTEX_INITIALIZER, .door = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static inline void pause_a_moment(int looks) {
    if (looks > PATIENCE) sched_yield();
#if defined(__x86_64__)
    else __builtin_ia32_pause();
#endif
}

/* All members wait for the last. */
static void together(int team) {
    if (team == 1) return;
    int turn = atomic_load(&crew.turn);
    if (atomic_fetch_add(&crew.arrived, 1) == team - 1) {
        atomic_store(&crew.arrived, 0);
        atomic_store(&crew.turn, turn + 1);
    } else
        for (int looks = 0; atomic_load(&crew.turn) == turn; looks++) pause_a_moment(looks);
}

static void *member(void *given) {
    int me = (int)(intptr_t)given, seen = crew.since[me];
    for (;;) {
        for (int looks = 0; atomic_load(&crew.number) == seen && looks < REST; looks++) pause_a_moment(0);
        if (atomic_load(&crew.number) == seen) {
            pthread_mutex_lock(&crew.door);
            while (atomic_load(&crew.number) == seen) pthread_cond_wait(&crew.work, &crew.door);
            pthread_mutex_unlock(&crew.door);
        }
        seen = atomic_load(&crew.number);
        if (me < crew.team) crew.job(crew.what, me, crew.team);
        atomic_fetch_add(&crew.done, 1);
    }
    return NULL;
}

/* A child of fork has no members. */
static void alone(void) {
    pthread_mutex_init(&crew.busy, NULL);
    pthread_mutex_init(&crew.door, NULL);
    pthread_cond_init(&crew.work, NULL);
    crew.members = 0;
    atomic_store(&crew.number, 0);
    atomic_store(&crew.arrived, 0);
}

/* Do a job with a team, or alone where the others have another one. */
static void do_job(Job job, void *what, int team) {
    if (team > TEAM) team = TEAM;
    if (team <= 1 || pthread_mutex_trylock(&crew.busy)) {
        job(what, 0, 1);
        return;
    }
    static int told = 0;
    if (!told) told = pthread_atfork(NULL, NULL, alone) == 0;
    while (crew.members < team - 1) {
        pthread_t thread;
        int next = crew.members + 1;
        crew.since[next] = atomic_load(&crew.number);
        if (pthread_create(&thread, NULL, member, (void *)(intptr_t)next)) {
            /* Columns can be shared by a team of this size alone, or by nobody. */
            pthread_mutex_unlock(&crew.busy);
            job(what, 0, 1);
            return;
        }
        pthread_detach(thread);
        crew.members++;
    }
    crew.job = job, crew.what = what, crew.team = team;
    atomic_store(&crew.done, 0);
    pthread_mutex_lock(&crew.door);
    atomic_fetch_add(&crew.number, 1);
    pthread_cond_broadcast(&crew.work);
    pthread_mutex_unlock(&crew.door);
    job(what, 0, team);
    for (int looks = 0; atomic_load(&crew.done) < crew.members; looks++) pause_a_moment(looks);
    pthread_mutex_unlock(&crew.busy);
}

/* Whether a team pays: where others use the cores, members wait for each other longer than one alone would take. Both
   ways are timed; the one that is not used is tried again for a few passes, less and less often as long as it loses. */
#define TRIAL 5
#define SOON 16
#define LATE 512

static struct {
    _Atomic float took[2]; /* Nanoseconds per unit of work, smoothed: alone, and as a team. */
    atomic_int as_team, trial, left, patience, fresh;
} way = {.as_team = 1, .left = TRIAL, .patience = SOON, .fresh = 1};

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int team_pays(void) {
    if (atomic_fetch_sub(&way.left, 1) > 0) return way.as_team;
    if (way.trial) {
        int better = way.took[1] < way.took[0];
        way.patience = better == way.as_team ? SOON : (way.patience < LATE ? 2 * way.patience : LATE);
        way.as_team = better;
    } else {
        way.as_team = !way.as_team;
        way.took[way.as_team] = 0;
    }
    way.trial = !way.trial;
    way.left = way.trial ? TRIAL : way.patience;
    way.fresh = 1;
    return way.as_team;
}

static void timed(int as_team, double took, float work) {
    /* The first pass of a way wakes those who sleep. */
    if (atomic_exchange(&way.fresh, 0)) return;
    float found = took / work, before = way.took[as_team];
    way.took[as_team] = before == 0 ? found : 0.7f * before + 0.3f * found;
}

static inline float fast_exp(float x) {
    x = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    float n = rintf(x * 1.44269504f), r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    union { int32_t i; float f; } two = {((int32_t)n + 127) << 23};
    return p * two.f;
}

static void normalise(const Norm *norm, int width, const float *x, const float *more, float *out) {
    float sum = 0, squares = 0;
    if (more) {
        for (int i = 0; i < width; i++) { out[i] = x[i] + more[i]; sum += out[i]; }
    } else {
        for (int i = 0; i < width; i++) { out[i] = x[i]; sum += x[i]; }
    }
    float mean = sum / width;
    for (int i = 0; i < width; i++) { float d = out[i] - mean; squares += d * d; }
    float by = 1.0f / sqrtf(squares / width + norm->eps);
    for (int i = 0; i < width; i++) out[i] = (out[i] - mean) * by * norm->gain[i] + norm->bias[i];
}

/* ---- linear maps ---- */

static inline __attribute__((always_inline)) void bytes_tile(
    const uint8_t *a, size_t la, int quads, const int8_t *w, const int R, int32_t (*acc)[PANEL]) {
#ifdef __AVX512VNNI__
    __m512i c[TILE][4];
    for (int r = 0; r < R; r++)
        for (int j = 0; j < 4; j++) c[r][j] = _mm512_setzero_si512();
    for (int k = 0; k < quads; k++) {
        __m512i b[4];
        for (int j = 0; j < 4; j++) b[j] = _mm512_loadu_si512(w + (size_t)k * 4 * PANEL + 64 * j);
        for (int r = 0; r < R; r++) {
            int32_t four;
            memcpy(&four, a + r * la + 4 * k, 4);
            __m512i x = _mm512_set1_epi32(four);
            for (int j = 0; j < 4; j++) c[r][j] = _mm512_dpbusd_epi32(c[r][j], x, b[j]);
        }
    }
    for (int r = 0; r < R; r++)
        for (int j = 0; j < 4; j++) _mm512_storeu_si512(&acc[r][16 * j], c[r][j]);
#else
    memset(acc, 0, sizeof(int32_t) * R * PANEL);
    for (int k = 0; k < quads; k++)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < PANEL; c++)
                for (int j = 0; j < 4; j++)
                    acc[r][c] += (int32_t)a[r * la + 4 * k + j] * w[((size_t)k * PANEL + c) * 4 + j];
#endif
}

static inline __attribute__((always_inline)) void floats_tile(
    const float *a, size_t la, int in, const float *w, const int R, float (*acc)[PANEL]) {
#ifdef __AVX512F__
    __m512 c[TILE][4];
    for (int r = 0; r < R; r++)
        for (int j = 0; j < 4; j++) c[r][j] = _mm512_setzero_ps();
    for (int k = 0; k < in; k++) {
        __m512 b[4];
        for (int j = 0; j < 4; j++) b[j] = _mm512_loadu_ps(w + (size_t)k * PANEL + 16 * j);
        for (int r = 0; r < R; r++) {
            __m512 x = _mm512_set1_ps(a[r * la + k]);
            for (int j = 0; j < 4; j++) c[r][j] = _mm512_fmadd_ps(x, b[j], c[r][j]);
        }
    }
    for (int r = 0; r < R; r++)
        for (int j = 0; j < 4; j++) _mm512_storeu_ps(&acc[r][16 * j], c[r][j]);
#else
    memset(acc, 0, sizeof(float) * R * PANEL);
    for (int k = 0; k < in; k++)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < PANEL; c++) acc[r][c] += a[r * la + k] * w[(size_t)k * PANEL + c];
#endif
}

static const int32_t nothing[PANEL];

/* Rows of x as bytes, `stride` of them each, and the scale of each row. */
static void quantise(const float *x, int rows, int in, size_t lx, int positive, uint8_t *q, size_t stride, float *scale) {
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * lx;
        uint8_t *to = q + r * stride;
        float most = 0;
        for (int i = 0; i < in; i++) { float v = fabsf(row[i]); most = v > most ? v : most; }
        float steps = positive ? 255.0f : 127.0f, by = most > 0 ? steps / most : 0.0f, middle = positive ? 0.0f : 128.0f;
        for (int i = 0; i < in; i++) to[i] = (uint8_t)(int32_t)(rintf(row[i] * by) + middle);
        for (size_t i = in; i < stride; i++) to[i] = 0;
        scale[r] = most / steps;
    }
}

static size_t linear_bytes(const Linear *l, int rows) {
    return (size_t)rows * ((l->in + 3) / 4 * 4 + sizeof(float)) + 128;
}

/* out[rows][lo] = x W + b, the columns from `from` to `end` of each of `parts` equal parts; `work` has linear_bytes. */
static void linear(const Linear *l, const float *x, size_t lx, int rows, int positive, int parts, int from, int end,
                   float *out, size_t lo, void *work) {
    size_t stride = (l->in + 3) / 4 * 4;
    float *scale = work;
    uint8_t *q = (uint8_t *)work + ((size_t)rows * sizeof(float) + 63) / 64 * 64;
    if (l->bytes) quantise(x, rows, l->in, lx, positive, q, stride, scale);
    int tiles = (rows + TILE - 1) / TILE, tile = tiles ? (rows + tiles - 1) / tiles : 1;
    int panels = (end - from + PANEL - 1) / PANEL, apart = l->out / parts;
    for (int p = 0; p < parts * panels; p++) {
        int first = p / panels * apart + from + p % panels * PANEL, last = p / panels * apart + end;
        int count = last - first < PANEL ? last - first : PANEL;
        for (int r0 = 0; r0 < rows; r0 += tile) {
            int R = rows - r0 < tile ? rows - r0 : tile;
            if (l->bytes) {
                int32_t acc[TILE][PANEL] __attribute__((aligned(64)));
                const int8_t *w = l->bytes + (size_t)first * stride;
                const uint8_t *a = q + r0 * stride;
                switch (R) {
                    case 1: bytes_tile(a, stride, stride / 4, w, 1, acc); break;
                    case 2: bytes_tile(a, stride, stride / 4, w, 2, acc); break;
                    case 3: bytes_tile(a, stride, stride / 4, w, 3, acc); break;
                    case 4: bytes_tile(a, stride, stride / 4, w, 4, acc); break;
                    case 5: bytes_tile(a, stride, stride / 4, w, 5, acc); break;
                    default: bytes_tile(a, stride, stride / 4, w, 6, acc);
                }
                const int32_t *more = positive ? nothing : l->middle + first;
                const float *s = l->scale + first, *b = l->bias + first;
                for (int r = 0; r < R; r++) {
                    float *o = out + (r0 + r) * lo + first, by = scale[r0 + r];
                    if (count == PANEL)
                        for (int c = 0; c < PANEL; c++) o[c] = (float)(acc[r][c] + more[c]) * (by * s[c]) + b[c];
                    else
                        for (int c = 0; c < count; c++) o[c] = (float)(acc[r][c] + more[c]) * (by * s[c]) + b[c];
                }
            } else {
                float acc[TILE][PANEL] __attribute__((aligned(64)));
                const float *w = l->floats + (size_t)first * l->in, *a = x + r0 * lx, *b = l->bias + first;
                switch (R) {
                    case 1: floats_tile(a, lx, l->in, w, 1, acc); break;
                    case 2: floats_tile(a, lx, l->in, w, 2, acc); break;
                    case 3: floats_tile(a, lx, l->in, w, 3, acc); break;
                    case 4: floats_tile(a, lx, l->in, w, 4, acc); break;
                    case 5: floats_tile(a, lx, l->in, w, 5, acc); break;
                    default: floats_tile(a, lx, l->in, w, 6, acc);
                }
                for (int r = 0; r < R; r++)
                    for (int c = 0; c < count; c++) out[(r0 + r) * lo + first + c] = acc[r][c] + b[c];
            }
        }
    }
}

/* ---- attention ---- */

#define LANES 16
#define QUERIES 4

/* turned[x][j] = k[j][x] for m keys of e numbers, `wide` apart; the rest is 0. */
static void turn(const float *k, size_t lk, int m, int e, float *turned, int wide) {
    int j = 0;
#ifdef __SSE__
    for (; j + 4 <= m && e % 4 == 0; j += 4)
        for (int x = 0; x < e; x += 4) {
            __m128 a = _mm_loadu_ps(k + j * lk + x), b = _mm_loadu_ps(k + (j + 1) * lk + x);
            __m128 c = _mm_loadu_ps(k + (j + 2) * lk + x), d = _mm_loadu_ps(k + (j + 3) * lk + x);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            float *to = turned + x * wide + j;
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to + wide, b);
            _mm_storeu_ps(to + 2 * wide, c);
            _mm_storeu_ps(to + 3 * wide, d);
        }
#endif
    for (; j < m; j++)
        for (int x = 0; x < e; x++) turned[x * wide + j] = k[j * lk + x];
    for (; j < wide; j++)
        for (int x = 0; x < e; x++) turned[x * wide + j] = 0;
}

/* out[n][h e] = softmax(q kᵀ) v for one row and some heads; queries have the 1/√e already. `work`: (e + QUERIES) × m,
   rounded up. */
static void attend(const float *q, size_t lq, int n, const float *k, const float *v, size_t lk, int m, int head, int heads,
                   int e, float *out, size_t lo, float *work) {
    int wide = (m + LANES - 1) / LANES * LANES;
    float *turned = work, *scores = work + (size_t)e * wide;
    for (int h = head; h < heads; h++) {
        const float *vh = v + h * e;
        turn(k + h * e, lk, m, e, turned, wide);
        for (int i0 = 0; i0 < n; i0 += QUERIES) {
            int count = n - i0 < QUERIES ? n - i0 : QUERIES;
            const float *qs[QUERIES];
            for (int i = 0; i < QUERIES; i++) qs[i] = q + (i0 + (i < count ? i : 0)) * lq + h * e;
            for (int j0 = 0; j0 < wide; j0 += LANES) {
#ifdef __AVX512F__
                __m512 acc[QUERIES] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
                for (int x = 0; x < e; x++) {
                    __m512 t = _mm512_loadu_ps(turned + x * wide + j0);
                    for (int i = 0; i < QUERIES; i++) acc[i] = _mm512_fmadd_ps(_mm512_set1_ps(qs[i][x]), t, acc[i]);
                }
                for (int i = 0; i < QUERIES; i++) _mm512_storeu_ps(scores + i * wide + j0, acc[i]);
#else
                float acc[QUERIES][LANES];
                memset(acc, 0, sizeof acc);
                for (int x = 0; x < e; x++) {
                    const float *t = turned + x * wide + j0;
                    for (int i = 0; i < QUERIES; i++)
                        for (int j = 0; j < LANES; j++) acc[i][j] += qs[i][x] * t[j];
                }
                for (int i = 0; i < QUERIES; i++) memcpy(scores + i * wide + j0, acc[i], sizeof acc[i]);
#endif
            }
            for (int i = 0; i < count; i++) {
                float *s = scores + i * wide, *o = out + (i0 + i) * lo + h * e, most = s[0], sum = 0;
                for (int j = 0; j < m; j++) most = s[j] > most ? s[j] : most;
                for (int j = m; j < wide; j++) s[j] = -1e30f;
                for (int j = 0; j < wide; j++) s[j] = fast_exp(s[j] - most);
                for (int j = 0; j < m; j++) sum += s[j];
                float by = 1.0f / sum;
                int x = 0;
#ifdef __AVX512F__
                for (; x + 64 <= e; x += 64) {
                    __m512 acc[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
                    for (int j = 0; j < m; j++) {
                        __m512 p = _mm512_set1_ps(s[j]);
                        for (int c = 0; c < 4; c++)
                            acc[c] = _mm512_fmadd_ps(p, _mm512_loadu_ps(vh + j * lk + x + 16 * c), acc[c]);
                    }
                    for (int c = 0; c < 4; c++) _mm512_storeu_ps(o + x + 16 * c, _mm512_mul_ps(acc[c], _mm512_set1_ps(by)));
                }
#endif
                for (; x < e; x++) {
                    float sum_x = 0;
                    for (int j = 0; j < m; j++) sum_x += s[j] * vh[j * lk + x];
                    o[x] = sum_x * by;
                }
            }
        }
    }
}

/* ---- blocks ---- */

static void activate(int kind, float *x, size_t count) {
    switch (kind) {
        case 0: for (size_t i = 0; i < count; i++) x[i] = x[i] > 0 ? x[i] : 0; break;
        case 1: for (size_t i = 0; i < count; i++) x[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f)); break;
        case 2: for (size_t i = 0; i < count; i++)
                    x[i] = 0.5f * x[i] * (1 + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
                break;
        case 3: for (size_t i = 0; i < count; i++) x[i] = x[i] / (1 + fast_exp(-x[i])); break;
        default: for (size_t i = 0; i < count; i++) x[i] = tanhf(x[i]);
    }
}

/* x: the states of `places` places, in and out; a: the sublayer's input or output; all of them [places][width]. */
static void after(const Stack *s, const Norm *norm, float *x, const float *sublayer, int places) {
    size_t d = s->width;
    for (int i = 0; i < places; i++) {
        if (s->pre_norm) for (size_t c = 0; c < d; c++) x[i * d + c] += sublayer[i * d + c];
        else normalise(norm, d, x + i * d, sublayer + i * d, x + i * d);
    }
}

static const float *before(const Stack *s, const Norm *norm, const float *x, float *room, int places) {
    if (!s->pre_norm) return x;
    for (int i = 0; i < places; i++) normalise(norm, s->width, x + (size_t)i * s->width, NULL, room + (size_t)i * s->width);
    return room;
}

/* What the blocks of some whole rows need beside their states: the first three are the team's, the rest each one's. */
typedef struct {
    float *inner, *seen, *sub, *room, *turned;
    void *work;
} Desk;

typedef struct {
    const Stack *s;
    int depth, rows;
    const int32_t *begin, *tokens;
    float *x;
    const float *const *kv;
    const int32_t *sources;
    Desk shared;
    atomic_int trouble;
} Pass;

static size_t wider(const Stack *s) { return s->hidden > 3 * s->width ? s->hidden : 3 * s->width; }

/* Bytes of a desk for rows; those of the shared part come first. */
static size_t desk_bytes(const Stack *s, int places, int longest, int shared, int own) {
    size_t wide = (longest + LANES - 1) / LANES * LANES, e = s->width / s->heads;
    Linear largest = {.in = s->hidden > s->width ? s->hidden : s->width};
    return (shared ? places * (wider(s) + 2 * (size_t)s->width) * sizeof(float) : 0) +
           (own ? (2 * (size_t)places * s->width + (e + QUERIES) * wide) * sizeof(float) + linear_bytes(&largest, places) : 0) +
           8 * 64;
}

static void embed(const Stack *s, int rows, const int32_t *begin, const int32_t *tokens, float *x) {
    size_t d = s->width;
    for (int i = 0; i < rows; i++)
        for (int at = begin[i]; at < begin[i + 1]; at++, x += d) {
            const float *from = s->table + tokens[at] * d, *place = s->positions + (at - begin[i]) * d;
            if (s->positions_here) for (size_t c = 0; c < d; c++) x[c] = from[c] * s->scale + place[c];
            else for (size_t c = 0; c < d; c++) x[c] = from[c] * s->scale;
            if (s->embed_norm.here) normalise(&s->embed_norm, d, x, NULL, x);
        }
}

/* Whole rows through the first blocks, x being their embedding. Members of a team each have an x of their own and
   compute it in full; they share the columns of products, and the heads, and meet where all columns are needed.
   kv[i]: of row i, for every layer, [s][2 d] keys and values. */
static void blocks(const Stack *s, int depth, int rows, const int32_t *begin, float *x, const float *const *kv,
                   const int32_t *sources, const Desk *k, int me, int team) {
    int places = begin[rows] - begin[0], d = s->width, e = d / s->heads;
    int lo = d / team * me, hi = d / team * (me + 1), head = s->heads / team * me, heads = s->heads / team * (me + 1);
    int f = s->hidden / team * me, g = s->hidden / team * (me + 1);
    for (int at = 0; at < depth; at++) {
        const Layer *l = s->layers + at;
        const float *in = before(s, &l->self_norm, x, k->room, places);
        /* A team has widths of whole panels; alone, panels may begin anywhere in the three parts. */
        if (team == 1) linear(&l->qkv, in, d, places, 0, 1, 0, 3 * d, k->inner, 3 * d, k->work);
        else linear(&l->qkv, in, d, places, 0, 3, lo, hi, k->inner, 3 * d, k->work);
        for (int i = 0; i < rows; i++) {
            size_t from = begin[i] - begin[0];
            int n = begin[i + 1] - begin[i];
            const float *q = k->inner + from * 3 * d;
            attend(q, 3 * d, n, q + d, q + 2 * d, 3 * d, n, head, heads, e, k->seen + from * d, d, k->turned);
        }
        together(team);
        linear(&l->out, k->seen, d, places, 0, 1, lo, hi, k->sub, d, k->work);
        together(team);
        after(s, &l->self_norm, x, k->sub, places);
        if (s->cross) {
            in = before(s, &l->cross_norm, x, k->room, places);
            linear(&l->query, in, d, places, 0, 1, lo, hi, k->inner, d, k->work);
            for (int i = 0; i < rows; i++) {
                size_t from = begin[i] - begin[0];
                const float *key = kv[i] + (size_t)at * sources[i] * 2 * d;
                attend(k->inner + from * d, d, begin[i + 1] - begin[i], key, key + d, 2 * d, sources[i], head, heads, e,
                       k->seen + from * d, d, k->turned);
            }
            together(team);
            linear(&l->cross_out, k->seen, d, places, 0, 1, lo, hi, k->sub, d, k->work);
            together(team);
            after(s, &l->cross_norm, x, k->sub, places);
        }
        in = before(s, &l->feed_norm, x, k->room, places);
        linear(&l->into, in, d, places, 0, 1, f, g, k->inner, s->hidden, k->work);
        if (team == 1) activate(s->activation, k->inner, (size_t)places * s->hidden);
        else for (int i = 0; i < places; i++) activate(s->activation, k->inner + (size_t)i * s->hidden + f, g - f);
        together(team);
        linear(&l->back, k->inner, s->hidden, places, s->activation == 0, 1, lo, hi, k->sub, d, k->work);
        together(team);
        after(s, &l->feed_norm, x, k->sub, places);
    }
    if (s->norm.here)
        for (int i = 0; i < places; i++) normalise(&s->norm, d, x + (size_t)i * d, NULL, x + (size_t)i * d);
}

static int longest_of(const Pass *p, int first, int last) {
    int longest = 0;
    for (int i = first; i < last; i++) {
        int n = p->begin[i + 1] - p->begin[i];
        longest = n > longest ? n : longest;
        if (p->s->cross) longest = p->sources[i] > longest ? p->sources[i] : longest;
    }
    return longest;
}

static char *aligned(char *at) { return (char *)(((uintptr_t)at + 63) / 64 * 64); }

static void lay_shared(Desk *k, const Stack *s, int places, char *room) {
    k->inner = (float *)aligned(room);
    k->seen = (float *)aligned((char *)(k->inner + places * wider(s)));
    k->sub = (float *)aligned((char *)(k->seen + (size_t)places * s->width));
}

/* The own part; gives the place of an x of one's own. */
static float *lay_own(Desk *k, const Stack *s, int places, int longest, char *room) {
    size_t wide = (longest + LANES - 1) / LANES * LANES, d = s->width;
    float *x = (float *)aligned(room);
    k->room = (float *)aligned((char *)(x + places * d));
    k->turned = (float *)aligned((char *)(k->room + places * d));
    k->work = aligned((char *)(k->turned + (d / s->heads + QUERIES) * wide));
    return x;
}

/* All members through all rows, each its columns. */
static void in_columns(void *what, int me, int team) {
    Pass *p = what;
    const Stack *s = p->s;
    int places = p->begin[p->rows] - p->begin[0], longest = longest_of(p, 0, p->rows);
    size_t first = me == 0 ? desk_bytes(s, places, longest, 1, 0) : 0;
    char *room = (char *)scratch(first + desk_bytes(s, places, longest, 0, 1));
    if (room == NULL) atomic_store(&p->trouble, 1);
    else if (me == 0) lay_shared(&p->shared, s, places, room);
    together(team);
    if (atomic_load(&p->trouble)) return;
    Desk k = p->shared;
    float *own = lay_own(&k, s, places, longest, room + first), *x = me == 0 ? p->x : own;
    embed(s, p->rows, p->begin, p->tokens, x);
    blocks(s, p->depth, p->rows, p->begin, x, p->kv, p->sources, &k, me, team);
}

/* Each member its rows, in groups. */
static void in_rows(void *what, int me, int team) {
    Pass *p = what;
    const Stack *s = p->s;
    int all = p->begin[p->rows], row = 0;
    for (int group = 0; row < p->rows; group++) {
        int first = row, room_left = all / team < GROUP ? all / team + 1 : GROUP;
        for (row++; row < p->rows && p->begin[row + 1] - p->begin[first] <= room_left; row++) {}
        if (group % team != me) continue;
        int places = p->begin[row] - p->begin[first], longest = longest_of(p, first, row);
        size_t shared = desk_bytes(s, places, longest, 1, 0);
        char *room = (char *)scratch(shared + desk_bytes(s, places, longest, 0, 1));
        if (room == NULL) { atomic_store(&p->trouble, 1); return; }
        Desk k;
        lay_shared(&k, s, places, room);
        lay_own(&k, s, places, longest, room + shared);
        float *x = p->x + (size_t)p->begin[first] * s->width;
        embed(s, row - first, p->begin + first, p->tokens, x);
        blocks(s, p->depth, row - first, p->begin + first, x, p->kv ? p->kv + first : NULL,
               p->sources ? p->sources + first : NULL, &k, 0, 1);
    }
}

/* ---- what Python calls; 1 means that there was no memory ---- */

/* Tokens of rows → their states after `depth` blocks, closed by the last normalisation where there is one. */
int levt_states(const Stack *s, int depth, int rows, const int32_t *begin, const int32_t *tokens, float *x,
                const float *const *kv, const int32_t *sources, int threads) {
    Pass p = {.s = s, .depth = depth, .rows = rows, .begin = begin, .tokens = tokens, .x = x, .kv = kv, .sources = sources};
    int team = threads < TEAM ? threads : TEAM;
    if (rows >= 2 * team) do_job(in_rows, &p, team);
    else {
        while (team > 1 && (s->width % (team * PANEL) || s->hidden % (team * PANEL) || s->heads % team)) team--;
        int choice = team > 1, as_team = choice && team_pays();
        double began = nanoseconds();
        do_job(in_columns, &p, as_team ? team : 1);
        /* A pass costs something for its weights and something for each place. */
        if (choice) timed(as_team, nanoseconds() - began, (float)depth * (begin[rows] + 4));
    }
    return atomic_load(&p.trouble);
}

/* Linear maps of the same rows, and what is made of the scores. */
typedef struct {
    const Linear *l;
    int maps, rows, without, first;
    size_t lx;
    const float *x;
    float *out;
    int32_t *best;
    float *logp;
    atomic_int trouble;
} Map;

static void choose(const Map *m, int r) {
    int classes = m->l->out;
    float *s = m->out + (size_t)r * classes, most = -1e30f, sum = 0, top = -1e30f;
    if (m->without >= 0) s[m->without] = -1e30f;
    for (int c = 0; c < classes; c++) most = s[c] > most ? s[c] : most;
    for (int c = 0; c < classes; c++) sum += fast_exp(s[c] - most);
    for (int c = m->first; c < classes; c++) top = s[c] > top ? s[c] : top;
    int at = m->first;
    while (at < classes - 1 && s[at] != top) at++;
    m->best[r] = at;
    m->logp[r] = s[at] - most - logf(sum);
    float all = most + logf(sum);
    for (int c = 0; c < classes; c++) s[c] -= all;
}

static void map_rows(void *what, int me, int team) {
    Map *m = what;
    void *work = scratch(linear_bytes(m->l, m->rows));
    if (work == NULL) atomic_store(&m->trouble, 1);
    else
        for (int i = 0; i < m->maps; i++) {
            const Linear *l = m->l + i;
            int panels = (l->out + PANEL - 1) / PANEL, from = panels * me / team * PANEL, end = panels * (me + 1) / team * PANEL;
            end = end < l->out ? end : l->out;
            linear(l, m->x, m->lx, m->rows, 0, 1, from, end, m->out + (size_t)i * m->rows * l->out, l->out, work);
        }
    if (m->best == NULL) return;
    together(team);
    for (int r = m->rows * me / team; r < m->rows * (me + 1) / team; r++) choose(m, r);
}

/* out[maps][rows][out] = x W + b for maps of one shape; rows of x begin `lx` numbers after each other. Where `best` is
   given, scores become log π over all classes but `without`; best: the best class from `first` on; logp: its log π. */
int levt_map(const Linear *l, int maps, int rows, const float *x, int lx, float *out, int without, int first,
             int32_t *best, float *logp, int threads) {
    Map m = {.l = l, .maps = maps, .rows = rows, .without = without, .first = first, .lx = lx, .x = x, .out = out,
             .best = best, .logp = logp};
    double work = (double)l->in * l->out * maps * rows;
    do_job(map_rows, &m, work < 1e6 || !way.as_team ? 1 : threads);
    return atomic_load(&m.trouble);
}
