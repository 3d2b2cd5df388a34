/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ side of stages: callables and ranges as stages. Included by stage.h.
 *
 *	auto keep = tare::push_stage("filter", [](Reading &r) { ... });
 *	auto next = tare::pull_stage("parse", [&]() -> std::optional<Row> ...);
 *	for (Row &row : tare::pulled("read", rows)) ...
 *
 * A result that is false (bool, an empty optional, a null pointer) is no
 * record; one that is no condition, or void, always is. An exception that
 * leaves a stage is a failure, and its record is dropped.
 */
#ifndef TARE_STAGE_HPP
#define TARE_STAGE_HPP

#include <tare/stage.h>

#include <iterator>
#include <type_traits>
#include <utility>

namespace tare {

namespace stage_detail {

template <typename T>
inline auto is_record(const T &value, int)
	-> decltype(static_cast<bool>(value))
{
	return static_cast<bool>(value);
}

/* Numbers are values, not conditions: a reading of 0 is one, too. */
template <typename T> inline bool is_record(const T &, long)
{
	return true;
}

template <typename T> inline bool has_record(const T &value)
{
	return (std::is_arithmetic<T>::value &&
		!std::is_same<T, bool>::value) ||
	       is_record(value, 0);
}

inline bool nothing(void *, void *) noexcept
{
	return true;
}

} /* namespace stage_detail */

#ifndef TARE_DISABLE

namespace stage_detail {

/* Calls `f` as a stage; `end` says which kind. */
template <void (*end)(struct tare_stage_call_ *), typename F>
inline decltype(auto) call(tare_stage *stage, void *frame, F &&f)
{
	using result = decltype(f());
	stage_call<struct tare_stage_call_, end> held(stage, frame);

	if constexpr (std::is_void<result>::value) {
		f();
		held.call.ok = true;
	} else {
		result value = f();
		held.call.ok = has_record(value);
		return static_cast<result>(std::forward<result>(value));
	}
}

inline void *ask(tare_stage *stage)
{
	uint32_t gate = tare_gate_(stage->site);

	return TARE_UNLIKELY(gate) ? tare_stage_ask_(stage, gate) : nullptr;
}

} /* namespace stage_detail */

#endif

/* A callable that is called with each record. */
template <typename F> class push_function {
public:
	push_function(const char *pipeline, const char *name, F f)
	    : f_(std::move(f))
	{
		tare_stage_wrap(&stage_, pipeline, name,
				stage_detail::nothing, nullptr);
	}
	template <typename... Args> decltype(auto) operator()(Args &&...args)
	{
#ifdef TARE_DISABLE
		return f_(std::forward<Args>(args)...);
#else
		uint32_t gate = tare_gate_(stage_.site);
		void *frame = TARE_UNLIKELY(gate) ?
				      tare_scope_begin_(stage_.site, gate) :
				      nullptr;

		if (TARE_LIKELY(frame == nullptr))
			tare_records_add_(stage_.records, 0, 1);
		return stage_detail::call<tare_stage_pushed_>(
			&stage_, frame, [&]() -> decltype(auto) {
				return f_(std::forward<Args>(args)...);
			});
#endif
	}

private:
	tare_stage stage_;
	F f_;
};

/* A callable that is asked for the next record. */
template <typename F> class pull_function {
public:
	pull_function(const char *pipeline, const char *name, F f)
	    : f_(std::move(f))
	{
		tare_stage_wrap_next(&stage_, pipeline, name,
				     stage_detail::nothing, nullptr);
	}
	decltype(auto) operator()()
	{
#ifdef TARE_DISABLE
		return f_();
#else
		return stage_detail::call<tare_stage_pulled_>(
			&stage_, stage_detail::ask(&stage_),
			[&]() -> decltype(auto) { return f_(); });
#endif
	}

private:
	tare_stage stage_;
	F f_;
};

template <typename F>
inline push_function<F> push_stage(const char *name, F f,
				   const char *pipeline = nullptr)
{
	return push_function<F>(pipeline, name, std::move(f));
}

template <typename F>
inline pull_function<F> pull_stage(const char *name, F f,
				   const char *pipeline = nullptr)
{
	return pull_function<F>(pipeline, name, std::move(f));
}

/*
 * A range as a stage: the time of its iterator's steps. Borrows the range;
 * one loop at a time.
 */
template <typename R> class pulled_range {
	using inner = decltype(std::begin(std::declval<R &>()));
	using last = decltype(std::end(std::declval<R &>()));

public:
	class iterator {
	public:
		iterator(tare_stage *stage, inner at, const last *end)
		    : stage_(stage), at_(at), end_(end)
		{
		}
		decltype(auto) operator*() { return *at_; }
		iterator &operator++()
		{
			step([&] { ++at_; });
			return *this;
		}
		bool operator!=(const last &end) const { return at_ != end; }
		template <typename F> void step(F &&f)
		{
#ifdef TARE_DISABLE
			f();
#else
			(void)stage_detail::call<tare_stage_pulled_>(
				stage_, stage_detail::ask(stage_), [&] {
					f();
					return at_ != *end_;
				});
#endif
		}

	private:
		tare_stage *stage_;
		inner at_;
		const last *end_;
	};

	pulled_range(const char *pipeline, const char *name, R &range)
	    : range_(range), end_(std::end(range))
	{
		tare_stage_wrap_next(&stage_, pipeline, name,
				     stage_detail::nothing, nullptr);
	}
	/* The first record is asked for here. */
	iterator begin()
	{
		iterator it(&stage_, std::begin(range_), &end_);

		it.step([] {});
		return it;
	}
	const last &end() const { return end_; }

private:
	tare_stage stage_;
	R &range_;
	last end_;
};

template <typename R>
inline pulled_range<R> pulled(const char *name, R &range,
			      const char *pipeline = nullptr)
{
	return pulled_range<R>(pipeline, name, range);
}

} /* namespace tare */

#endif
