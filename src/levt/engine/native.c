/* The passes of a LevT on a CPU, in one call each: embedding, blocks, classifiers. Knows no loop, no text, no files.

   States lie flat and without padding: row i of a batch is the places begin[i] … begin[i + 1], and nothing is computed
   for a row that is not its own, so that its numbers do not depend on its batch. Weights are packed by the caller
   (native_network.py) in panels of 64 outputs, as float [in][64], or as bytes [in / 4][64][4], the order of VPDPBUSD.
   Products of bytes have one scale per row of the input and one per output:

       q = round(127 x / max|x|) + 128,    y = max|x| / 127 · s · (q W₈ − 128 Σ W₈) + b

   and where the input cannot be negative, 255 steps and no 128. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512VNNI__
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
    const int32_t *sums;
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

/* Memory of a thread, which grows and stays. */
static _Thread_local char *kept = NULL;
static _Thread_local size_t kept_bytes = 0;

static float *scratch(size_t bytes) {
    if (bytes > kept_bytes) {
        free(kept);
        kept_bytes = bytes + bytes / 4 + 4096;
        kept = aligned_alloc(64, (kept_bytes + 63) / 64 * 64);
        if (kept == NULL) { kept_bytes = 0; return NULL; }
    }
    return (float *)kept;
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

/* out[rows][lo] = x W + b; `work` has linear_bytes. */
static void linear(const Linear *l, const float *x, size_t lx, int rows, int positive, float *out, size_t lo, void *work) {
    size_t stride = (l->in + 3) / 4 * 4;
    float *scale = work;
    uint8_t *q = (uint8_t *)work + ((size_t)rows * sizeof(float) + 63) / 64 * 64;
    if (l->bytes) quantise(x, rows, l->in, lx, positive, q, stride, scale);
    int tiles = (rows + TILE - 1) / TILE, tile = tiles ? (rows + tiles - 1) / tiles : 1;
    for (int first = 0; first < l->out; first += PANEL) {
        int count = l->out - first < PANEL ? l->out - first : PANEL;
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
                int32_t middle = positive ? 0 : 128;
                const float *s = l->scale + first, *b = l->bias + first;
                const int32_t *sums = l->sums + first;
                for (int r = 0; r < R; r++) {
                    float *o = out + (r0 + r) * lo + first, by = scale[r0 + r];
                    if (count == PANEL)
                        for (int c = 0; c < PANEL; c++) o[c] = (float)(acc[r][c] - middle * sums[c]) * (by * s[c]) + b[c];
                    else
                        for (int c = 0; c < count; c++) o[c] = (float)(acc[r][c] - middle * sums[c]) * (by * s[c]) + b[c];
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

/* out[n][h e] = softmax(q kᵀ) v for one row; queries have the 1/√e already. `work`: (e + QUERIES) × m, rounded up. */
static void attend(const float *q, size_t lq, int n, const float *k, const float *v, size_t lk, int m, int heads, int e,
                   float *out, size_t lo, float *work) {
    int wide = (m + LANES - 1) / LANES * LANES;
    float *turned = work, *scores = work + (size_t)e * wide;
    for (int h = 0; h < heads; h++) {
        const float *kh = k + h * e, *vh = v + h * e;
        for (int x = 0; x < e; x++) {
            for (int j = 0; j < m; j++) turned[x * wide + j] = kh[j * lk + x];
            for (int j = m; j < wide; j++) turned[x * wide + j] = 0;
        }
        for (int i0 = 0; i0 < n; i0 += QUERIES) {
            int count = n - i0 < QUERIES ? n - i0 : QUERIES;
            const float *qs[QUERIES];
            for (int i = 0; i < QUERIES; i++) qs[i] = q + (i0 + (i < count ? i : 0)) * lq + h * e;
            for (int j0 = 0; j0 < wide; j0 += LANES) {
                float acc[QUERIES][LANES];
                memset(acc, 0, sizeof acc);
                for (int x = 0; x < e; x++) {
                    const float *t = turned + x * wide + j0;
                    for (int i = 0; i < QUERIES; i++)
                        for (int j = 0; j < LANES; j++) acc[i][j] += qs[i][x] * t[j];
                }
                for (int i = 0; i < QUERIES; i++) memcpy(scores + i * wide + j0, acc[i], sizeof acc[i]);
            }
            for (int i = 0; i < count; i++) {
                float *s = scores + i * wide, *o = out + (i0 + i) * lo + h * e, most = s[0], sum = 0;
                for (int j = 0; j < m; j++) most = s[j] > most ? s[j] : most;
                for (int j = 0; j < m; j++) { s[j] = fast_exp(s[j] - most); sum += s[j]; }
                for (int x = 0; x < e; x++) o[x] = 0;
                for (int j = 0; j < m; j++) {
                    float p = s[j];
                    const float *from = vh + j * lk;
                    for (int x = 0; x < e; x++) o[x] += p * from[x];
                }
                float by = 1.0f / sum;
                for (int x = 0; x < e; x++) o[x] *= by;
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

/* Some whole rows through the first `depth` blocks. kv[i]: of row i, for every layer, [s][2 d] keys and values. */
static int blocks(const Stack *s, int depth, int rows, const int32_t *begin, float *x, const float *const *kv,
                  const int32_t *sources) {
    int places = begin[rows] - begin[0], longest = 0, d = s->width, e = d / s->heads;
    for (int i = 0; i < rows; i++) {
        int n = begin[i + 1] - begin[i];
        longest = n > longest ? n : longest;
        if (s->cross) longest = sources[i] > longest ? sources[i] : longest;
    }
    int most_in = s->hidden > d ? s->hidden : d, wide = (longest + LANES - 1) / LANES * LANES;
    Linear largest = {.in = most_in};
    size_t wider = s->hidden > 3 * d ? s->hidden : 3 * d;
    size_t need = (size_t)places * (wider + 3 * d) * sizeof(float) + linear_bytes(&largest, places) +
                  (size_t)(e + QUERIES) * wide * sizeof(float) + 4 * 64;
    float *inner = scratch(need);
    if (inner == NULL) return 1;
    float *seen = inner + places * wider, *room = seen + (size_t)places * d, *sub = room + (size_t)places * d;
    float *turned = sub + (size_t)places * d;
    void *work = turned + (((size_t)(e + QUERIES) * wide + 15) / 16 * 16);
    for (int at = 0; at < depth; at++) {
        const Layer *l = s->layers + at;
        const float *in = before(s, &l->self_norm, x, room, places);
        linear(&l->qkv, in, d, places, 0, inner, 3 * d, work);
        for (int i = 0; i < rows; i++) {
            size_t from = begin[i] - begin[0];
            int n = begin[i + 1] - begin[i];
            const float *q = inner + from * 3 * d;
            attend(q, 3 * d, n, q + d, q + 2 * d, 3 * d, n, s->heads, e, seen + from * d, d, turned);
        }
        linear(&l->out, seen, d, places, 0, sub, d, work);
        after(s, &l->self_norm, x, sub, places);
        if (s->cross) {
            in = before(s, &l->cross_norm, x, room, places);
            linear(&l->query, in, d, places, 0, inner, d, work);
            for (int i = 0; i < rows; i++) {
                size_t from = begin[i] - begin[0];
                const float *k = kv[i] + (size_t)at * sources[i] * 2 * d;
                attend(inner + from * d, d, begin[i + 1] - begin[i], k, k + d, 2 * d, sources[i], s->heads, e,
                       seen + from * d, d, turned);
            }
            linear(&l->cross_out, seen, d, places, 0, sub, d, work);
            after(s, &l->cross_norm, x, sub, places);
        }
        in = before(s, &l->feed_norm, x, room, places);
        linear(&l->into, in, d, places, 0, inner, s->hidden, work);
        activate(s->activation, inner, (size_t)places * s->hidden);
        linear(&l->back, inner, s->hidden, places, s->activation == 0, sub, d, work);
        after(s, &l->feed_norm, x, sub, places);
    }
    if (s->norm.here)
        for (int i = 0; i < places; i++) normalise(&s->norm, d, x + (size_t)i * d, NULL, x + (size_t)i * d);
    return 0;
}

/* ---- what Python calls; 1 means that there was no memory ---- */

/* Tokens of rows → their states after `depth` blocks, closed by the last normalisation where there is one. */
int levt_states(const Stack *s, int depth, int rows, const int32_t *begin, const int32_t *tokens, float *x,
                const float *const *kv, const int32_t *sources) {
    size_t d = s->width;
    for (int i = 0; i < rows; i++)
        for (int at = begin[i]; at < begin[i + 1]; at++) {
            const float *from = s->table + tokens[at] * d, *place = s->positions + (at - begin[i]) * d;
            float *to = x + at * d;
            if (s->positions_here) for (size_t c = 0; c < d; c++) to[c] = from[c] * s->scale + place[c];
            else for (size_t c = 0; c < d; c++) to[c] = from[c] * s->scale;
            if (s->embed_norm.here) normalise(&s->embed_norm, d, to, NULL, to);
        }
    for (int first = 0, next; first < rows; first = next) {
        for (next = first + 1; next < rows && begin[next + 1] - begin[first] <= GROUP; next++) {}
        if (blocks(s, depth, next - first, begin + first, x + begin[first] * d, kv ? kv + first : NULL,
                   sources ? sources + first : NULL))
            return 1;
    }
    return 0;
}

/* A linear map of rows. */
int levt_linear(const Linear *l, int rows, const float *x, float *out) {
    void *work = scratch(linear_bytes(l, rows));
    if (work == NULL) return 1;
    linear(l, x, l->in, rows, 0, out, l->out, work);
    return 0;
}

/* Scores of each count in each gap: neighbours joined, [places − 1][2 d] · Bᵀ; gaps between two rows mean nothing. */
int levt_gaps(const Linear *l, int places, const float *h, float *out) {
    /* Two neighbours lie side by side already: a gap is a row of twice the width that begins at its left one. */
    linear(l, h, l->in / 2, places - 1, 0, out, l->out, NULL);
    return 0;
}

/* Scores → log π over all but one class, in place; the best class from `first` on, and its log π. */
void levt_choose(int rows, int classes, int without, int first, float *scores, int32_t *best, float *logp) {
    for (int r = 0; r < rows; r++) {
        float *s = scores + (size_t)r * classes, most = -1e30f, sum = 0, top = -1e30f;
        if (without >= 0) s[without] = -1e30f;
        for (int c = 0; c < classes; c++) most = s[c] > most ? s[c] : most;
        for (int c = 0; c < classes; c++) sum += fast_exp(s[c] - most);
        float all = most + logf(sum);
        for (int c = first; c < classes; c++) top = s[c] > top ? s[c] : top;
        int at = first;
        while (at < classes - 1 && s[at] != top) at++;
        best[r] = at;
        logp[r] = s[at] - all;
        for (int c = 0; c < classes; c++) s[c] -= all;
    }
}
